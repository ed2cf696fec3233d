import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { memoryOf } from "../../daemon/runtime/memory.ts";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** The daemon with the real agent runtime and a model that does what its prompts say: the gateway's, since no other is chosen. */
let agent: AgentSandbox;
let sandbox: Sandbox;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox({
    env: {
      // behind something that stands above it, as walls do
      SVC_RUNTIME_WRAP: JSON.stringify(["setsid", "--wait"]),
      SVC_OPENCODE_MODEL: "",
      SVC_LLM_MODEL: "large",
      SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
      SVC_INITIAL_PROMPT: "!run echo one >> first.txt\n!run echo two >> first.txt\n!say Begun.",
    },
  });
  ({ sandbox } = agent);
});
afterAll(() => agent?.[Symbol.asyncDispose]());

test("completes the first prompt, also after its first tool call", async () => {
  const ids = async () =>
    (await (await sandbox.call("GET", "/session")).json()).map(({ id }: { id: string }) => id);
  await until("it is over", async () => {
    const [id] = await ids();
    return id !== undefined && (await lastMessage(id))?.text === "Begun.";
  });
  expect(readFileSync(join(sandbox.workspace, "first.txt"), "utf8")).toBe("one\ntwo\n");
  expect(new Set(agent.model.requests.map(({ body }) => body.model))).toEqual(new Set(["large"]));
});

test("runs tool calls in order, then prints the text", async () => {
  const id = await prompt("!run echo from-a-tool > made.txt\n!write note.md one\\ntwo\n!say All done.");
  await until("it is idle", async () => (await lastMessage(id))?.finish === "stop");
  expect(readFileSync(join(sandbox.workspace, "made.txt"), "utf8")).toBe("from-a-tool\n");
  expect(readFileSync(join(sandbox.workspace, "note.md"), "utf8")).toBe("one\ntwo");
  expect((await lastMessage(id))?.text).toBe("All done.");
});

test("echoes a message without directives", async () => {
  const id = await prompt("Hello there");
  await until("it is idle", async () => (await lastMessage(id))?.finish === "stop");
  expect((await lastMessage(id))?.text).toBe("Hello there");
});

test("a question waits for its answer", async () => {
  const id = await prompt("!ask Which colour? | Red | Blue\n!say As you wish.");
  let asked: { id: string; sessionID: string; questions: { question: string }[] } | undefined;
  await until("it asks", async () => {
    asked = (await (await sandbox.call("GET", "/question")).json())[0];
    return asked !== undefined;
  });
  expect(asked).toMatchObject({ sessionID: id, questions: [{ question: "Which colour?" }] });
  await sandbox.call("POST", `/question/${asked?.id}/reply`, "user", { answers: [["Blue"]] });
  await until("it goes on", async () => (await lastMessage(id))?.text === "As you wish.");
});

test("refuses, fails for a while, and is cut off, as scripted", async () => {
  const refused = await prompt("!refuse");
  await until("it has refused", async () => (await lastMessage(refused))?.finish === "content-filter");
  const failed = await prompt("!fail 401");
  await until("it has failed", async () => (await lastMessage(failed))?.error === "APIError");
  const busy = await prompt("!fail 503 1\n!say It works again.");
  await until("it was tried again", async () => (await lastMessage(busy))?.text === "It works again.");
  const cut = await prompt("!drop 1\n!say Whole again.");
  await until("it was tried again", async () => (await lastMessage(cut))?.text === "Whole again.");
  expect(existsSync(join(sandbox.workspace, ".git"))).toBe(true);
});

test("reports answers, failures and aborts, each prompt once", async () => {
  const tools = "!run echo one >> each.txt\n!run echo two >> each.txt\n!say Made.";
  expect(await outcomeOf(sandbox, tools)).toMatchObject({ state: "answered", error: null });
  expect(readFileSync(join(sandbox.workspace, "each.txt"), "utf8")).toBe("one\ntwo\n");
  expect(await outcomeOf(sandbox, "!fail 401")).toMatchObject({
    state: "failed",
    error: "It fails as it was told to.",
  });
  expect(await outcomeOf(sandbox, "!refuse")).toMatchObject({ state: "failed" });
  expect(await outcomeOf(sandbox, "!drop 1\n!say Whole again.")).toMatchObject({ state: "answered" });
  for (const text of ["!say Begun.\n!hang", "!fail 500"]) {
    const id = await beginPrompt(sandbox, text);
    await sandbox.untilHealth("it runs", ({ busy }) => busy);
    expect((await sandbox.call("POST", "/svc/abort", "platform")).status).toBe(200);
    expect(await outcomeOf(sandbox, text, id)).toMatchObject({ state: "aborted" });
  }
  expect(await outcomeOf(sandbox, "Hello")).toMatchObject({ state: "answered" });
});

test("measures the memory of the runtime's own process, below any wrapper", async () => {
  const { runtime_pid } = await sandbox.health();
  const bytes = await memoryOf(runtime_pid ?? 0, sandbox.runtimePort);
  expect(bytes).toBeGreaterThan(100 * 1024 ** 2);
  expect(bytes).toBeLessThan(2 * 1024 ** 3);
  expect(await memoryOf(process.pid, 1)).toBeNull();
});

async function prompt(text: string): Promise<string> {
  const { id } = await (await sandbox.call("POST", "/session", "user", { title: "svc" })).json();
  const taken = await sandbox.call("POST", `/session/${id}/prompt_async`, "user", {
    parts: [{ type: "text", text }],
  });
  expect(taken.status).toBe(204);
  return id;
}

async function lastMessage(id: string) {
  const messages = await (await sandbox.call("GET", `/session/${id}/message`)).json();
  const last = messages.at(-1);
  if (last?.info.role !== "assistant") return null;
  const texts = last.parts.filter(({ type }: { type: string }) => type === "text");
  return {
    finish: last.info.finish,
    error: last.info.error?.name,
    text: texts.map(({ text }: { text: string }) => text).join(""),
  };
}
