import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, svcOnTerminal } from "../../helpers/cli-run.ts";
import { RUN_API } from "../../helpers/self-hosted.ts";

const ENTER = "\r";

function configured(program = "exit 0") {
  const home = makeHome();
  const dir = join(home.home, "sh");
  mkdirSync(join(dir, "bin"), { recursive: true });
  writeFileSync(join(dir, "bin/svc-api"), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
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

test("an answer that svc-api refuses is asked for again, and the others are kept", async () => {
  const { terminal, env } = configured(RUN_API);
  const before = env();
  const questions = [
    "Address to listen on",
    "URL at which browsers",
    "Parent host of previews",
    "TLS: caddy runs Caddy",
    "Who can create a user",
    "Your own git hosts",
    "OAuth app for sign-in",
    "Model gateway for every sandbox",
    "Model gateway: key",
    "Model gateway: default model",
  ];
  const round = async (after: string, answers: Record<string, string>) => {
    for (const question of questions) {
      await terminal.shows(new RegExp(`${after}[^]*${question}`));
      terminal.type(`${answers[question] ?? ""}${ENTER}`);
    }
  };
  const url = "https://svc.example.com";
  await round("", { "URL at which browsers": url, "Your own git hosts": "git.example.com=svn" });
  await terminal.shows("SVC_GIT_HOSTS must be a list");
  expect(env()).toBe(before);
  await round("Enter keeps the others", { "Your own git hosts": "git.example.com=gitlab" });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  expect(env()).toContain("SVC_GIT_HOSTS=git.example.com=gitlab\n");
  expect(env()).toContain(`SVC_PUBLIC_URL=${url}\n`);
});
