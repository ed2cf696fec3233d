import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DaemonSetup } from "../../src/contract/setup.ts";
import { CLI_TOKEN, type Sandbox, SERVICE_KEY, startSandbox } from "../helpers/sandbox.ts";

const SECRET = "a secret of the project";

const sandboxWith = (command: string, more: Partial<DaemonSetup> = {}): Promise<Sandbox> =>
  startSandbox({
    env: {
      SVC_SETUP: JSON.stringify({ command, timeoutMs: 600_000, ...more }),
      SVC_PROJECT_SECRET_NAMES: "API_KEY",
      API_KEY: SECRET,
      SVC_EXECUTOR_TOKEN: CLI_TOKEN,
      SVC_LLM_API_KEY: "a key of models",
      SVC_LLM_BASE_URL: "http://127.0.0.1:1/v1",
      SVC_INITIAL_PROMPT: "the task",
    },
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
