import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, svcOnTerminal } from "../../helpers/cli-run.ts";

const ENTER = "\r";

function configured() {
  const home = makeHome();
  const dir = join(home.home, "sh");
  mkdirSync(dir);
  writeFileSync(join(dir, "state.json"), '{"mode": "native"}');
  const text = "SVC_HOST=127.0.0.1\nSVC_LLM_BASE_URL=http://m/v1\nSVC_LLM_API_KEY=sk-old\n";
  writeFileSync(join(dir, "env"), text);
  return {
    env: () => readFileSync(join(dir, "env"), "utf8"),
    terminal: svcOnTerminal(["self-host", "configure"], { home, env: { SVC_SELF_HOST_DIR: dir } }),
  };
}

test("the wizard keeps, changes and removes answers, refuses wrong ones, and shows no secret", async () => {
  const { terminal, env } = configured();
  const answer = async (question: string, keys: string) => {
    await terminal.shows(question);
    terminal.type(keys);
  };
  await answer("Address to listen on", ENTER);
  await answer("URL at which browsers", `svc.example.com${ENTER}`);
  await terminal.shows("must be a URL without a path");
  terminal.type("\u0015");
  terminal.type(`https://svc.example.com${ENTER}`);
  await answer("Parent host of previews", ENTER);
  await answer("TLS: caddy runs Caddy", ENTER);
  await answer("Who can create a user", ENTER);
  await answer("Your own git hosts", ENTER);
  await answer("OAuth app for sign-in", ENTER);
  await answer("Model gateway for every sandbox", ENTER);
  await answer("Model gateway: key", `sk-new${ENTER}`);
  await answer("Model gateway: default model", `none${ENTER}`);
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  expect(terminal.screen()).not.toMatch(/sk-(?:old|new)/);
  expect(terminal.screen()).toContain("at the next start");
  expect(env()).toContain("SVC_PUBLIC_URL=https://svc.example.com\n");
  expect(env()).toContain("SVC_LLM_API_KEY=sk-new\n");
  expect(env()).toContain("SVC_LLM_BASE_URL=http://m/v1\n");
  expect(env()).not.toContain("SVC_SIGN_UP");
});

test("a wizard that is cancelled changes nothing", async () => {
  const { terminal, env } = configured();
  const before = env();
  await terminal.shows("Address to listen on");
  terminal.type(`0.0.0.0${ENTER}`);
  await terminal.shows("URL at which browsers");
  terminal.type("\u0003");
  expect((await terminal.exited).code).toBe(1);
  expect(env()).toBe(before);
});
