import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { killFound } from "../helpers/processes.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

let agent: AgentSandbox;
let sandbox: Sandbox;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox({
    knowsModels: true,
    env: {
      OWN_KEY: "own-model-key",
      ANTHROPIC_API_KEY: "sk-ant-scripted",
      SVC_PROJECT_SECRET_NAMES: "OWN_KEY,ANTHROPIC_API_KEY",
    },
    files: { "opencode.json": OWN_PROVIDER },
  });
  ({ sandbox } = agent);
});
afterAll(() => agent?.[Symbol.asyncDispose]());

/** A project that brings its own provider, whose key is a secret. */
const OWN_PROVIDER = JSON.stringify({
  $schema: "https://opencode.ai/config.json",
  provider: {
    // known to the runtime by its name: only the address is the test's
    anthropic: { options: { baseURL: "{env:SVC_LLM_BASE_URL}" } },
    own: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: "{env:SVC_LLM_BASE_URL}", apiKey: "{env:OWN_KEY}" },
      models: { large: { name: "Large" } },
    },
  },
});

const CUT_OFF = "[svc] The agent runtime restarted while it was answering: the answer above is cut off.";

test("a killed runtime is restarted; its run is marked as cut off, and its prompt as interrupted", async () => {
  // the session's own, to which the server's prompts go
  await open("svc");
  const quiet = await open();
  await prompt(quiet, "Before");
  await until("it is said back", async () => (await texts(quiet)).at(-1) === "Before");
  const id = await open();
  await prompt(id, "First");
  await until("it is said back", async () => (await texts(id)).at(-1) === "First");
  // until something ends it, however slow the machine is
  const slow = "!slow 1 some words\n!hang";
  const asked = `!run echo once >> once.txt\n${slow}`;
  // the server's own waits until nothing else runs
  const promptId = await beginPrompt(sandbox, asked);
  await prompt(id, `!run echo one\n${slow}`);
  await until("both speak", () => speaking("echo one") && speaking("echo once"));
  expect(readWorkspace("once.txt")).toBe("once\n");
  const before = await sandbox.health();
  killFound(before.runtime_pid, "SIGKILL");
  await backAfter(before.runtime_pid);
  await until("it is marked", async () => (await texts(id)).at(-1) === CUT_OFF);
  expect((await texts(id)).slice(0, 2)).toEqual(["First", "First"]);
  expect(await texts(quiet)).toEqual(["Before", "Before"]);
  expect(sandbox.log()).toContain("2 answers were cut off by the restart");
  expect(await outcomeOf(sandbox, asked, promptId)).toMatchObject({
    state: "interrupted",
    error: "The agent runtime restarted in the middle of the answer.",
  });
  const next = "!run echo next >> once.txt\n!say Next.";
  expect(await outcomeOf(sandbox, next)).toMatchObject({ state: "answered" });
  expect(readWorkspace("once.txt")).toBe("once\nnext\n");

  await prompt(id, "!say I go on.");
  await until("it goes on", async () => (await texts(id)).at(-1) === "I go on.");
  expect(JSON.stringify(agent.model.requests.at(-1)?.body.messages)).toContain("the answer above is cut off");
  await sandbox.untilHealth("all rests", ({ busy }) => !busy);

  // by a change of secrets, too; what has no run then is left as it is
  const hanging = await open();
  await prompt(hanging, "!hang");
  await until("it waits", () => agent.model.counts.open > 0);
  expect((await sandbox.call("POST", "/svc/abort", "platform")).status).toBe(200);
  await until("what the model never answered is let go", () => agent.model.counts.open === 0);
  await prompt(hanging, "!hang");
  await until("it waits", () => agent.model.counts.open > 0);
  const { runtime_pid } = await sandbox.health();
  const env = { OWN_KEY: "own-model-key", ANTHROPIC_API_KEY: "sk-ant-scripted", ANOTHER: "1" };
  await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env });
  await backAfter(runtime_pid);
  await until("it is marked", async () => (await texts(hanging)).at(-1) === CUT_OFF);
  expect((await texts(id)).filter((text) => text === CUT_OFF)).toHaveLength(1);
  expect(await texts(quiet)).toEqual(["Before", "Before"]);
});

test("a provider of the project gets the project's key", async () => {
  const id = await open();
  for (const [providerID, modelID, key] of [
    ["own", "large", "own-model-key"],
    ["svc", "scripted", "scripted-model-key"],
  ]) {
    await prompt(id, `Through ${providerID}`, { model: { providerID, modelID } });
    await until(
      "it is said back",
      async () => (await texts(id)).filter((text) => text.endsWith(`${providerID}`)).length === 2,
    );
    expect(agent.model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`);
  }
  const providers = await (await sandbox.call("GET", "/provider")).json();
  const anthropic = providers.all.find(({ id }: { id: string }) => id === "anthropic");
  const modelID = Object.keys(anthropic?.models ?? {})[0];
  await prompt(id, "By a key that the runtime knows", { model: { providerID: "anthropic", modelID } });
  await until("it was asked", () => agent.model.requests.at(-1)?.headers["x-api-key"] === "sk-ant-scripted");
  expect(agent.model.requests.at(-1)?.path).toBe("/v1/messages");
});

/** Whether the model is at the answer that follows on a tool's call. */
function speaking(call: string): boolean {
  return agent.model.requests.some(({ body }) => {
    const messages = JSON.stringify(body.messages ?? []);
    return messages.includes("tool_calls") && messages.includes(call);
  });
}

function readWorkspace(name: string): string {
  return readFileSync(join(sandbox.workspace, name), "utf8");
}

async function open(title = "Beside"): Promise<string> {
  return (await (await sandbox.call("POST", "/session", "user", { title })).json()).id;
}

async function prompt(id: string, text: string, more: Record<string, unknown> = {}): Promise<void> {
  const body = { parts: [{ type: "text", text }], ...more };
  expect((await sandbox.call("POST", `/session/${id}/prompt_async`, "user", body)).status).toBe(204);
}

/** The messages of a conversation. */
async function texts(id: string): Promise<string[]> {
  const messages = await (await sandbox.call("GET", `/session/${id}/message`)).json();
  return messages.map(({ parts }: { parts: { type: string; text?: string }[] }) =>
    parts.flatMap(({ type, text }) => (type === "text" ? [text] : [])).join(""),
  );
}

async function backAfter(pid: number | null): Promise<void> {
  await sandbox.untilHealth("it is back", (health) => health.runtime === "ok" && health.runtime_pid !== pid);
}
