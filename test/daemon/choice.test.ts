import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentChoice } from "../../src/contract/daemon.ts";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import type { PermissionMode } from "../../src/contract/runtimes.ts";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { MODEL, RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** The modes in which opencode asks, and for what it does of a prompt that reads, writes and runs twice. */
const ASKING: [PermissionMode, string[]][] = [
  ["ask", ["edit", "bash", "bash"]],
  ["auto-edit", ["bash", "bash"]],
];
/** A change of the mode starts opencode again, so each run draws one. What a mode gives opencode is tested in `control`. */
const DRAWN = sample(1, ASKING);

/**
 * The daemon with opencode, and a project whose configuration has a provider of its own. A change of the mode, or of the
 * gateway's model, starts opencode again: the order of the tests saves such starts.
 */
let agent: AgentSandbox;
beforeAll(async () => {
  if (RUNTIME === null) return;
  agent = await startAgentSandbox({
    env: { SVC_PERMISSION_MODE: DRAWN[0]?.[0] ?? "" },
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

/** What it asks for after a question that is answered. */
async function nextQuestion(answered: string): Promise<{ id: string; permission: string }> {
  let first: unknown;
  await until("it asks", async () => {
    [first] = arrayOf(await (await agent.sandbox.call("GET", "/permission")).json());
    return first !== undefined && textField(first, "id") !== answered;
  });
  return { id: textField(first, "id"), permission: textField(first, "permission") };
}

const allow = (id: string) =>
  agent.sandbox.call("POST", `/permission/${id}/reply`, "user", { reply: "once" });
const exists = (name: string) => existsSync(join(agent.sandbox.workspace, name));
const starts = () => agent.sandbox.log().split("started the runtime as process").length - 1;

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

test.each(DRAWN)(
  "in the mode %s, it asks for %j, to the end of a run that is under way",
  async (mode, wanted) => {
    await choose({ mode });
    const [written, made, again] = [`written-in-${mode}`, `made-in-${mode}`, `again-in-${mode}`];
    await beginPrompt(
      agent.sandbox,
      `!tool read {"filePath":"a.txt"}\n!write ${written} x\n!run touch ${made}\n!run touch ${again}\n!say Done.`,
    );
    let answered = "";
    for (const [index, permission] of wanted.entries()) {
      const question = await nextQuestion(answered);
      expect(question.permission).toBe(permission);
      expect(exists(index === wanted.length - 1 ? again : made)).toBe(false);
      // it has no effect on this run
      await choose({ mode: "full" });
      await allow(question.id);
      answered = question.id;
    }
    await untilIdle();
    expect([written, made, again].map(exists)).toEqual([true, true, true]);
    expect(lastRequest()).toMatchObject({ model: MODEL.replace("svc/", "") });
    expect(lastRequest().reasoning_effort).toBeUndefined();
  },
);

test("in the mode full it asks for nothing; another model, too, starts it once for both", async () => {
  const before = starts();
  expect(await ask("!run touch free\n!say Done.", OTHER)).toMatchObject({ state: "answered" });
  expect(exists("free")).toBe(true);
  expect(lastRequest()).toMatchObject({ model: "other", reasoning_effort: "high" });
  expect(starts()).toBe(before + 1);
});

test("the next prompt is sent to the model that it names, with its effort and its agent, in the same process", async () => {
  const before = starts();
  const mine = { model: "own/mine", effort: "brief", agent: "plan" };
  expect(await ask("!say two", mine)).toMatchObject({ state: "answered" });
  expect(lastRequest()).toMatchObject({ model: "mine", reasoning_effort: "low" });
  // it is one conversation
  expect(JSON.stringify(lastRequest().messages)).toContain("!run touch free");
  const [last] = arrayOf(
    await (await agent.sandbox.call("GET", `/session/${await conversation()}/message?limit=1`)).json(),
  );
  expect(field(field(last, "info"), "agent")).toBe("plan");
  expect(starts()).toBe(before);
});

const conversation = async () => (await agent.sandbox.health()).conversation ?? "";

test("a model that a known provider does not have, and an unknown provider, fail the prompt", async () => {
  const wrong = await ask("!say x", { model: "own/yours" });
  expect(wrong).toMatchObject({ state: "failed" });
  expect(wrong.error).toStartWith('The provider own has no model "yours". Available: mine.');
  const none = await ask("!say x", { model: "nobody/x" });
  expect(none.error).toStartWith('The agent runtime has no provider "nobody" for the model nobody/x.');
});
