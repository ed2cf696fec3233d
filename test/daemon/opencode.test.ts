import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
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
    return id !== undefined && (await lastAnswer(id)) === "Begun.";
  });
  expect(readFileSync(join(sandbox.workspace, "first.txt"), "utf8")).toBe("one\ntwo\n");
  expect(new Set(agent.model.requests.map(({ body }) => body.model))).toEqual(new Set(["large"]));
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
  await until("it goes on", async () => (await lastAnswer(id)) === "As you wish.");
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
  // these are tried again
  for (const text of ["!drop 1\n!say Whole again.", "!fail 503 1\n!say It works again."])
    expect(await outcomeOf(sandbox, text)).toMatchObject({ state: "answered" });
  for (const text of ["!say Begun.\n!hang", "!fail 500"]) {
    const id = await beginPrompt(sandbox, text);
    await sandbox.untilHealth("it runs", ({ busy }) => busy);
    expect((await sandbox.call("POST", "/svc/abort", "platform")).status).toBe(200);
    expect(await outcomeOf(sandbox, text, id)).toMatchObject({ state: "aborted" });
    await until("the model is let go", () => agent.model.counts.open === 0);
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

/** The text of the last message, if it is the agent's. */
async function lastAnswer(id: string): Promise<string | null> {
  const messages = await (await sandbox.call("GET", `/session/${id}/message`)).json();
  const last = messages.at(-1);
  if (last?.info.role !== "assistant") return null;
  const texts = last.parts.filter(({ type }: { type: string }) => type === "text");
  return texts.map(({ text }: { text: string }) => text).join("");
}
