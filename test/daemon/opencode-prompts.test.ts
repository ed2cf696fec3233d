import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { type AgentSandbox, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { killFound } from "../helpers/processes.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** What becomes of prompts, with the real agent runtime. */
let agent: AgentSandbox;
let sandbox: Sandbox;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox();
  ({ sandbox } = agent);
});
afterAll(() => agent?.[Symbol.asyncDispose]());

test("answers, failures and aborts are told as they are, each prompt once", async () => {
  const tools = "!run echo one >> made.txt\n!run echo two >> made.txt\n!say Made.";
  expect(await outcome(tools)).toMatchObject({ state: "answered", error: null });
  expect(readFileSync(join(sandbox.workspace, "made.txt"), "utf8")).toBe("one\ntwo\n");
  expect(await outcome("!fail 401")).toMatchObject({
    state: "failed",
    error: "It fails as it was told to.",
  });
  expect(await outcome("!refuse")).toMatchObject({ state: "failed" });
  expect(await outcome("!drop 1\n!say Whole again.")).toMatchObject({ state: "answered" });
  for (const text of ["!say Begun.\n!hang", "!fail 500"]) {
    const id = await begin(text);
    await sandbox.untilHealth("it runs", ({ busy }) => busy);
    expect((await sandbox.call("POST", "/svc/abort", "platform")).status).toBe(200);
    expect(await outcome(text, id)).toMatchObject({ state: "aborted" });
  }
  expect(await outcome("Hello")).toMatchObject({ state: "answered" });
});

test("a runtime that is killed in the middle of an answer has interrupted it, and the next is answered", async () => {
  const text = "!run echo once >> once.txt\n!slow 300 a b c d e f g h i j k l m n o p\n!say Over.";
  const id = await begin(text);
  await until("it works", () => readText("once.txt") === "once\n");
  killFound((await sandbox.health()).runtime_pid, "SIGKILL");
  expect(await outcome(text, id)).toMatchObject({
    state: "interrupted",
    error: "The agent runtime was started again in the middle of the answer.",
  });
  expect(await outcome("!run echo next >> once.txt\n!say Next.")).toMatchObject({ state: "answered" });
  expect(readText("once.txt")).toBe("once\nnext\n");
});

async function begin(text: string): Promise<string> {
  const id = crypto.randomUUID();
  await until("it is taken", async () => (await give(id, text, false)) !== null);
  return id;
}

async function outcome(text: string, id: string = crypto.randomUUID()): Promise<DaemonPrompt> {
  let last: DaemonPrompt | null = null;
  await until(
    () => `it is over: ${JSON.stringify(last)}`,
    async () => {
      last = await give(id, text, true);
      return last !== null && last.state !== "running";
    },
  );
  if (last === null) throw new Error("no outcome");
  return last;
}

async function give(id: string, text: string, wait: boolean): Promise<DaemonPrompt | null> {
  const answer = await sandbox.call("POST", "/svc/prompt", "platform", { prompt_id: id, text, wait });
  const body = await answer.json();
  return answer.status === 200 ? body.prompt : null;
}

function readText(name: string): string {
  try {
    return readFileSync(join(sandbox.workspace, name), "utf8");
  } catch {
    return "";
  }
}
