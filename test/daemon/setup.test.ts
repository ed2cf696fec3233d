import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type DaemonSetup, SETUP_VERBS, type SetupVerb, setupPath } from "../../src/contract/setup.ts";
import { CLI_TOKEN, type Sandbox, SERVICE_KEY, startSandbox } from "../helpers/sandbox.ts";

const SECRET = "a secret of the project";

const sandboxWith = (command: string, more: Partial<DaemonSetup> = {}, files = {}): Promise<Sandbox> =>
  startSandbox({
    env: {
      SVC_SETUP: JSON.stringify({ command, timeoutMs: 600_000, isKept: false, ...more }),
      SVC_PROJECT_SECRET_NAMES: "API_KEY",
      API_KEY: SECRET,
      SVC_EXECUTOR_TOKEN: CLI_TOKEN,
      SVC_LLM_API_KEY: "a key of models",
      SVC_LLM_BASE_URL: "http://127.0.0.1:1/v1",
      SVC_INITIAL_PROMPT: "the task",
    },
    files,
  });
const ready = (sandbox: Sandbox) =>
  sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");

test("the command runs in the clone before the agent starts, with its environment but for svc's keys", async () => {
  const command = `test ! -s "$STANDIN.log" && cat a.txt && echo "key: $API_KEY" && env > ../env && pwd`;
  await using sandbox = await sandboxWith(command);
  const { setup } = await ready(sandbox);
  expect(setup).toEqual({ state: "ok", problem: null, output: [] });
  const environment = readFileSync(join(sandbox.folder, "env"), "utf8");
  expect(environment).toContain(`API_KEY=${SECRET}\n`);
  expect(environment).toContain(`HOME=${sandbox.home}\n`);
  for (const hidden of [SERVICE_KEY, CLI_TOKEN, "a key of models", "the task", "SVC_SETUP", "SVC_TOKEN"])
    expect(environment).not.toContain(hidden);
  expect(sandbox.log()).toContain(` setup ${sandbox.workspace}\n`);
  expect(sandbox.log()).toContain(" setup key: ***\n");
});

test.each([
  ["exit 3", "exit 3", {}],
  ["kill -9 $$", "signal SIGKILL", {}],
  ["sleep 600", "no end after 0.05 minutes", { timeoutMs: 3_000 }],
])("a command that fails leaves a session that works, and its reason: %s", async (end, problem, more) => {
  const lines = Array.from({ length: 30 }, (_, index) => `echo line ${index} $API_KEY;`).join("");
  await using sandbox = await sandboxWith(`${lines} ${end}`, more);
  const { setup } = await ready(sandbox);
  expect(setup).toEqual({
    state: "failed",
    problem,
    output: Array.from({ length: 20 }, (_, index) => `line ${index + 10} ***`),
  });
  const told = sandbox.notes().filter((note) => note.startsWith("told "));
  expect(told).toEqual([expect.stringContaining(`[svc] The project's setup command failed: ${problem}.`)]);
  expect(told[0]).toContain("line 29 ***");
});

test("what the command leaves running ends before the agent starts", async () => {
  await using sandbox = await sandboxWith("(sleep 4321; touch late) & echo $! > pid");
  await ready(sandbox);
  const pid = readFileSync(join(sandbox.workspace, "pid"), "utf8").trim();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});

const FILES = { ".gitignore": "node_modules\n", "package-lock.json": "1", "b.txt": "" };
const ADDS = `echo ran; mkdir -p node_modules/.bin && echo one > node_modules/a && ln -s ../a node_modules/.bin/a
printf 2 > not-ignored; mkdir -p ~/.cache && echo three > ~/.cache/c`;
const RAN = " setup ran\n";

const waits = (sandbox: Sandbox) =>
  sandbox.untilHealth("svc decides", ({ setup }) => setup?.state === "waiting");
const send = async (sandbox: Sandbox, verb: SetupVerb, body?: Uint8Array<ArrayBuffer>) => {
  const path = setupPath(verb);
  const headers = sandbox.headers({ role: "platform", method: "POST", path });
  return (await fetch(sandbox.url + path, { method: "POST", headers, ...(body && { body }) })).status;
};

test("svc takes what the command adds before the agent starts, and gives it to a sandbox that does not run the command", async () => {
  await using first = await sandboxWith(ADDS, { isKept: true }, FILES);
  const { setup } = await waits(first);
  const head = (await first.repository.git("rev-parse", first.sessionId)).trim();
  expect(setup?.checkout).toEqual({ commit: head, isClean: true, lockfiles: expect.any(String) });
  for (const verb of SETUP_VERBS) {
    const method = verb === "files" ? "GET" : "POST";
    expect((await first.call(method, setupPath(verb))).status).toBe(404);
  }
  expect((await first.call("GET", setupPath("files"), "platform")).status).toBe(409);
  expect(await send(first, "run-and-keep")).toBe(204);
  await first.untilHealth("svc is to take it", ({ setup }) => setup?.state === "keeping");
  expect([await send(first, "run"), first.notes()]).toEqual([409, []]);
  const tar = new Uint8Array(await (await first.call("GET", setupPath("files"), "platform")).arrayBuffer());
  expect((await ready(first)).setup).toEqual({ state: "ok", problem: null, output: [] });

  await using next = await sandboxWith(ADDS, { isKept: true }, { ...FILES, "b.txt": "another commit" });
  expect((await waits(next)).setup?.checkout?.lockfiles).toBe(setup?.checkout?.lockfiles ?? "");
  expect(await send(next, "restore", tar)).toBe(204);
  expect((await ready(next)).setup).toEqual({ state: "restored", problem: null, output: [] });
  expect(next.log()).not.toContain(RAN);
  const texts = ["workspace/node_modules/.bin/a", "workspace/not-ignored", "home/.cache/c"].map((path) =>
    readFileSync(join(next.folder, path), "utf8").trim(),
  );
  expect(texts).toEqual(["one", "2", "three"]);
});

test("a broken archive is no setup: the command runs", async () => {
  await using sandbox = await sandboxWith(ADDS, { isKept: true }, { ...FILES, "package-lock.json": "2" });
  await waits(sandbox);
  expect(await send(sandbox, "restore", Buffer.from("no tar"))).toBe(500);
  expect((await ready(sandbox)).setup?.state).toBe("ok");
  expect(sandbox.log()).toContain(RAN);
});

test.each([
  ["changes a file of the repository", "echo 2 > b.txt"],
  ["commits", "git commit -q --allow-empty -m x"],
  ["fails", "exit 1"],
])("nothing is kept of a command that %s", async (_, command) => {
  await using sandbox = await sandboxWith(command, { isKept: true }, FILES);
  await waits(sandbox);
  expect(await send(sandbox, "run-and-keep")).toBe(204);
  expect((await ready(sandbox)).setup?.state).toBe(command === "exit 1" ? "failed" : "ok");
  // otherwise it would offer it for a minute
  if (command !== "exit 1")
    expect(sandbox.log()).toContain("not kept: it has also changed files of the repository");
});
