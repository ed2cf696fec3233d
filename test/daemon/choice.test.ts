import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentChoice } from "../../src/contract/daemon.ts";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { MODEL, RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/**
 * The daemon with opencode in the mode ask, and a project whose configuration has a provider of its own. A change of the
 * mode, or of the gateway's model, starts opencode again: the order of the tests saves such starts.
 */
let agent: AgentSandbox;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox({
    env: { SVC_PERMISSION_MODE: "ask" },
    files: { "opencode.json": JSON.stringify({ provider: { own: OWN } }) },
  });
});
afterAll(() => agent?.[Symbol.asyncDispose]());

const OWN = {
  npm: "@ai-sdk/openai-compatible",
  options: { baseURL: "{env:SVC_LLM_BASE_URL}", apiKey: "{env:SVC_LLM_API_KEY}" },
  models: { mine: { name: "Mine", variants: { brief: { reasoningEffort: "low" } } } },
};
const CHOICE: AgentChoice = { model: MODEL, agent: null, mode: "full", effort: null };
const OTHER = { model: "svc/other", effort: "high" };
const ask = (text: string, change: Partial<AgentChoice> = {}) =>
  outcomeOf(agent.sandbox, text, undefined, { ...CHOICE, ...change });
const choose = (change: Partial<AgentChoice>) =>
  agent.sandbox.call("POST", "/svc/choice", "platform", { ...CHOICE, ...change });
/** The last request with tools: others are for titles. */
const lastRequest = () => agent.model.requests.findLast(({ body }) => Array.isArray(body.tools))?.body;

async function permissions(): Promise<unknown[]> {
  return arrayOf(await (await agent.sandbox.call("GET", "/permission")).json());
}

async function allowed(): Promise<string> {
  let asked: unknown[] = [];
  await until("it asks", async () => {
    asked = await permissions();
    return asked.length > 0;
  });
  await agent.sandbox.call("POST", `/permission/${textField(asked[0], "id")}/reply`, "user", {
    reply: "once",
  });
  return textField(asked[0], "permission");
}

const untilIdle = () =>
  until("it is idle", async () => {
    const status = await (await agent.sandbox.call("GET", "/session/status")).text();
    return status === "{}";
  });

test("opencode names the models of all providers but the gateway's, and its agents", async () => {
  const answer: unknown = await (await agent.sandbox.call("POST", "/svc/choices", "platform", {})).json();
  const choices = field(answer, "choices");
  expect(arrayOf(field(choices, "models"))).toContainEqual({
    id: "own/mine",
    name: "Mine",
    efforts: ["brief"],
  });
  expect(
    arrayOf(field(choices, "models")).filter((model) => textField(model, "id").startsWith("svc/")),
  ).toEqual([]);
  expect(choices).toMatchObject({ gateway: true, modes: ["ask", "auto-edit", "full"] });
  const names = arrayOf(field(choices, "agents")).map((each) => textField(each, "name"));
  expect(names.toSorted()).toEqual(["build", "plan"]);
});

test("in the mode ask, it asks for commands and edits, but not for reading", async () => {
  await choose({ mode: "ask" });
  await beginPrompt(
    agent.sandbox,
    '!tool read {"filePath":"a.txt"}\n!write b.txt x\n!run touch made\n!say Done.',
  );
  expect(await allowed()).toBe("edit");
  expect(existsSync(join(agent.sandbox.workspace, "made"))).toBe(false);
  expect(await allowed()).toBe("bash");
  await untilIdle();
  expect(existsSync(join(agent.sandbox.workspace, "made"))).toBe(true);
});

test("in the mode auto-edit, it asks for commands only", async () => {
  await choose({ mode: "auto-edit" });
  await beginPrompt(agent.sandbox, "!write c.txt x\n!run touch again\n!say Done.");
  expect(await allowed()).toBe("bash");
  await untilIdle();
  expect(existsSync(join(agent.sandbox.workspace, "c.txt"))).toBe(true);
});

test("a run that is under way keeps its mode; then it asks for nothing in the mode full", async () => {
  await choose({ mode: "auto-edit" });
  await beginPrompt(agent.sandbox, "!wait\n!run touch later\n!say Done.");
  await until("the model waits", () => agent.model.counts.open > 0);
  await choose({ mode: "full" });
  await agent.model.go();
  expect(await allowed()).toBe("bash");
  await untilIdle();
  // another model, too: it is started again once for both
  const free = await ask("!run touch free\n!say Done.", OTHER);
  expect(free).toMatchObject({ state: "answered" });
  expect(existsSync(join(agent.sandbox.workspace, "free"))).toBe(true);
});

test("a prompt is sent to the model that it names, with its effort, and the next one to another", async () => {
  expect(await ask("!say one", OTHER)).toMatchObject({ state: "answered" });
  expect(lastRequest()).toMatchObject({ model: "other", reasoning_effort: "high" });
  expect(await ask("!say two", { model: "own/mine", effort: "brief" })).toMatchObject({ state: "answered" });
  expect(lastRequest()).toMatchObject({ model: "mine", reasoning_effort: "low" });
  expect(await ask("!say three")).toMatchObject({ state: "answered" });
  expect(lastRequest()).toMatchObject({ model: MODEL.replace("svc/", "") });
  expect(lastRequest().reasoning_effort).toBeUndefined();
  // it is one conversation
  expect(JSON.stringify(lastRequest().messages)).toContain("!say one");
});

test("another agent answers with its own tools", async () => {
  await ask("!say x", { agent: "plan" });
  const [last] = arrayOf(
    await (await agent.sandbox.call("GET", `/session/${await conversation()}/message?limit=1`)).json(),
  );
  expect(field(field(last, "info"), "agent")).toBe("plan");
});

const conversation = async () => (await agent.sandbox.health()).conversation ?? "";

test("a model that a known provider does not have, and an unknown provider, fail the prompt", async () => {
  const wrong = await ask("!say x", { model: "own/yours" });
  expect(wrong).toMatchObject({ state: "failed" });
  expect(wrong.error).toStartWith('The provider own has no model "yours". Available: mine.');
  const none = await ask("!say x", { model: "nobody/x" });
  expect(none.error).toStartWith('The agent runtime has no provider "nobody" for the model nobody/x.');
});
