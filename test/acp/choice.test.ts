import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentChoice, RuntimeChoices } from "../../src/contract/daemon.ts";
import { field } from "../../src/contract/json.ts";
import { type AcpSandbox, startAcpSandbox, textOf } from "../helpers/acp-sandbox.ts";
import { outcomeOf } from "../helpers/agent-sandbox.ts";
import { until } from "../helpers/until.ts";

const CHOICE: AgentChoice = { model: null, agent: null, mode: "full", effort: null };

const choose = (acp: AcpSandbox, change: Partial<AgentChoice>) =>
  acp.sandbox.call("POST", "/svc/choice", "platform", { ...CHOICE, ...change });

async function choicesOf(acp: AcpSandbox): Promise<RuntimeChoices> {
  const answer: unknown = await (await acp.sandbox.call("POST", "/svc/choices", "platform", {})).json();
  const choices = field(answer, "choices");
  return JSON.parse(JSON.stringify(choices));
}

/** What the agent works with, by its own word, and its process. */
async function told(acp: AcpSandbox, change?: Partial<AgentChoice>) {
  const sent = await outcomeOf(acp.sandbox, "!told", undefined, change && { ...CHOICE, ...change });
  if (sent.state !== "answered") throw new Error(`not answered: ${sent.error}`);
  return JSON.parse(textOf(await acp.answer()));
}

const OWN_KEY = { ANTHROPIC_API_KEY: "the project's own" };

/** For the tests of an agent that has config options and begins with none chosen, in one conversation. */
let shared: AcpSandbox;
beforeAll(async () => {
  shared = await startAcpSandbox(["choosy"], { env: OWN_KEY });
});
afterAll(() => shared?.[Symbol.asyncDispose]());

describe("an agent with config options", () => {
  test("names its models, modes and efforts, without those that mean none", async () => {
    const acp = shared;
    expect(await choicesOf(acp)).toEqual({
      models: ["small", "large"].map((name) => ({
        ...{ id: `anthropic/${name}`, name },
        efforts: ["low", "high"],
      })),
      gateway: false,
      agents: [],
      modes: ["ask", "auto-edit", "full"],
    });
  });

  test("behind the gateway, its own names are not offered", async () => {
    const env = { SVC_LLM_BASE_URL: "http://127.0.0.1:9/v1/llm/openai/v1", SVC_LLM_API_KEY: "key" };
    await using acp = await startAcpSandbox(["choosy"], { env });
    expect(await choicesOf(acp)).toMatchObject({ models: [], gateway: true });
  });

  test("begins with the choice of the session", async () => {
    const env = {
      ...OWN_KEY,
      ...{
        SVC_OPENCODE_MODEL: "anthropic/large2",
        SVC_PERMISSION_MODE: "auto-edit",
        SVC_REASONING_EFFORT: "high",
      },
    };
    await using acp = await startAcpSandbox(["choosy"], { env });
    expect(await told(acp)).toMatchObject({ model: "large2", mode: "acceptEdits", effort: "high" });
    expect((await acp.answer()).info).toMatchObject({ providerID: "anthropic", modelID: "large2" });
  });

  test("changes between two prompts, in the same process, and says so in its answers", async () => {
    const acp = shared;
    const first = await told(acp, { model: "anthropic/small" });
    expect(first).toMatchObject({ model: "small", mode: "bypassPermissions", effort: "default" });
    const second = await told(acp, { model: "anthropic/small", mode: "ask", effort: "high" });
    expect(second).toMatchObject({ model: "small", mode: "default", effort: "high", process: first.process });
    const third = await told(acp, { model: "anthropic/large", mode: "ask" });
    expect(third).toMatchObject({ model: "large", mode: "default", process: first.process });
    expect((await acp.answer()).info).toMatchObject({ modelID: "large" });
    // a prompt without a choice is answered as the one before
    expect(await told(acp)).toMatchObject({ model: "large", mode: "default" });
    expect(await told(acp, { model: "anthropic/small" })).toMatchObject({ mode: "bypassPermissions" });
  });

  test("is started again for a model that it does not offer, and continues its conversation", async () => {
    const acp = shared;
    await acp.send("!say first");
    const { process: before, prompts } = await told(acp);
    expect(prompts.at(-1)).toBe("!say first");
    const after = await told(acp, { model: "anthropic/of-tomorrow" });
    expect(after.prompts).toEqual([...prompts, "!told"]);
    expect(after.process).not.toBe(before);
    expect((await acp.answer()).info).toMatchObject({ modelID: "of-tomorrow" });
  });

  test("keeps the choice over a restart of the runtime", async () => {
    const acp = shared;
    await told(acp, { model: "anthropic/small", mode: "ask", effort: "low" });
    const { runtime_pid: pid } = await acp.sandbox.health();
    process.kill(-(pid ?? 0), "SIGKILL");
    await acp.sandbox.untilHealth(
      "it restarts",
      (health) => health.runtime === "ok" && health.runtime_pid !== pid,
    );
    expect(await told(acp)).toMatchObject({ mode: "default", effort: "low" });
  });

  test("an effort that it does not have fails the prompt with those that it has", async () => {
    const acp = shared;
    const small = { model: "anthropic/small" };
    const extreme = { ...CHOICE, ...small, effort: "extreme" };
    const wrong = await outcomeOf(acp.sandbox, "!told", undefined, extreme);
    expect(wrong).toMatchObject({ state: "failed" });
    expect(wrong.error).toContain("no reasoning effort extreme: it offers default, low, high.");
    expect(await told(acp, small)).toMatchObject({ effort: "default" });
  });

  test("a change that it refuses fails the prompt, and nothing else", async () => {
    const acp = shared;
    const small = { model: "anthropic/small" };
    acp.behave(["choosy", "stubborn"]);
    await acp.send("!crash it ends");
    expect(await told(acp, small)).toMatchObject({ effort: "default" });
    const wrong = { ...CHOICE, ...small, effort: "high" };
    const refused = await outcomeOf(acp.sandbox, "!told", undefined, wrong);
    expect(refused).toMatchObject({ state: "failed" });
    expect(refused.error).toContain("it does not change");
    expect(await told(acp, small)).toMatchObject({ effort: "default" });
    acp.behave(["choosy"]);
    await acp.send("!crash it ends");
  });
});

describe("an agent with modes only", () => {
  let acp: AcpSandbox;
  beforeAll(async () => {
    acp = await startAcpSandbox(["trusting", "careful"]);
  });
  afterAll(() => acp?.[Symbol.asyncDispose]());

  test("asks in the mode ask, and no more in full", async () => {
    expect(await choicesOf(acp)).toMatchObject({ modes: ["ask", "full"] });
    expect(await told(acp)).toMatchObject({ mode: "bypassPermissions" });
    await choose(acp, { mode: "ask" });
    await acp.begin("!run touch made\n!say Made.");
    let id = "";
    await until("it asks", async () => {
      id = (await (await acp.sandbox.call("GET", "/permission")).json())[0]?.id ?? "";
      return id !== "";
    });
    expect(existsSync(join(acp.sandbox.workspace, "made"))).toBe(false);
    await acp.json("POST", `/permission/${id}/reply`, { reply: "once" });
    await until("it is over", async () => textOf(await acp.answer()) === "Made.");
    await choose(acp, {});
    expect(await acp.send("!run touch another")).toMatchObject({ state: "answered" });
  });

  test("does not work in a mode that it does not have", async () => {
    acp.behave(["trusting"]);
    await acp.send("!crash it ends");
    expect(await told(acp)).toMatchObject({ mode: "bypassPermissions" });
    const refused = await outcomeOf(acp.sandbox, "!run touch wrong", undefined, { ...CHOICE, mode: "ask" });
    expect(refused).toMatchObject({ state: "failed" });
    expect(refused.error).toContain("The agent has no mode default: it offers asks, bypassPermissions.");
    expect(existsSync(join(acp.sandbox.workspace, "wrong"))).toBe(false);
  });
});

test("a run that is under way keeps its mode, and a client's next prompt has the new one", async () => {
  const acp = shared;
  await told(acp, { model: "anthropic/small" });
  await acp.begin("!pause x\n!run echo under-way\n!say Done.");
  const paused = join(acp.home, ".acp-reference/paused");
  await until("it works", () => existsSync(paused));
  expect((await choose(acp, { model: "anthropic/small", mode: "ask" })).status).toBe(200);
  const path = `/session/${await acp.conversation()}/prompt_async`;
  const prompted = async (messageID: string, text: string) => {
    const body = { messageID, parts: [{ type: "text", text }] };
    expect((await acp.sandbox.call("POST", path, "user", body)).status).toBe(204);
  };
  // it waits behind the run
  await prompted("msg_ffffffffffffyyyyyyyyyyyyyy", "!say Behind.");
  await Bun.file(paused).delete();
  await until("both are over", async () => textOf(await acp.answer()) === "Behind.");
  expect(await acp.json("GET", "/permission")).toEqual([]);
  expect((await acp.messages()).map((message) => textOf(message))).toContain("Done.");
  await prompted("msg_ffffffffffffzzzzzzzzzzzzzz", "!told");
  await until(
    "it is answered",
    async () => (await acp.answer()).info.parentID === "msg_ffffffffffffzzzzzzzzzzzzzz",
  );
  await until("it has ended", async () => (await acp.answer()).info.time.completed !== undefined);
  expect(JSON.parse(textOf(await acp.answer()))).toMatchObject({ mode: "default" });
});

test("clients reach neither the choices of the adapter nor those of the daemon", async () => {
  const acp = shared;
  for (const [method, path] of [
    ["POST", "/config/choice"],
    ["GET", "/config/choices"],
    ["POST", "/svc/choice"],
    ["POST", "/svc/choices"],
  ] as const)
    expect(
      (await acp.sandbox.call(method, path, "user", method === "POST" ? CHOICE : undefined)).status,
    ).toBe(403);
  expect((await acp.sandbox.call("POST", "/svc/choice", "platform", { mode: "reckless" })).status).toBe(400);
});
