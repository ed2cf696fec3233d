import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { AgentChoice, DaemonPrompt } from "../../src/contract/daemon.ts";
import type { Behaviour } from "../helpers/opencode.ts";
import { killFound } from "../helpers/processes.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

async function booted(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  return sandbox;
}

async function give(sandbox: Sandbox, body: unknown) {
  const answer = await sandbox.call("POST", "/svc/prompt", "platform", body);
  return { status: answer.status, body: await answer.json() };
}

/** For the tests that need no settings of their own, one after the other. */
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await booted();
});
afterAll(() => sandbox?.[Symbol.asyncDispose]());

const CHOICE: AgentChoice = { model: null, agent: null, mode: "full", effort: null };
const newId = () => crypto.randomUUID();
/** Prompts that the runtime was given in all its lives. */
const said = () => sandbox.notes().filter((note) => note.startsWith("prompt ")).length;

/** Waits for what becomes of a prompt, as svc does. */
async function outcome(sandbox: Sandbox, id: string, text = "Do it"): Promise<DaemonPrompt> {
  let last: DaemonPrompt | null = null;
  await until(
    () => `the prompt is over: ${JSON.stringify(last)}`,
    async () => {
      const { status, body } = await give(sandbox, { prompt_id: id, text, wait: true });
      last = status === 200 ? body.prompt : null;
      return last !== null && last.state !== "running";
    },
  );
  if (last === null) throw new Error("no outcome");
  return last;
}

describe("reports the outcome of a prompt", () => {
  test.each<[string, Behaviour, string, DaemonPrompt["state"], string | null]>([
    ["it is answered", {}, "Do it", "answered", null],
    ["slowly, and cold", { coldMs: 600, runMs: 900 }, "Do it", "answered", null],
    ["the model fails", {}, "!fail The model is away.", "failed", "The model is away."],
    ["the runtime's answer to it is lost", { lostAnswer: true, runMs: 300 }, "Do it", "answered", null],
  ])("%s", async (_, behaviour, text, state, error) => {
    sandbox.behave(behaviour);
    const before = said();
    const id = newId();
    const first = await give(sandbox, { prompt_id: id, text });
    expect(first).toMatchObject({ status: 200, body: { ok: true, prompt: { prompt_id: id } } });
    expect(await outcome(sandbox, id, text)).toEqual({ prompt_id: id, state, error });
    // said again, it is not given again
    expect(await outcome(sandbox, id, text)).toMatchObject({ state, error });
    expect(said()).toBe(before + 1);
  });

  test.each<[string, Partial<AgentChoice>, string]>([
    [
      "an agent that is not there",
      { agent: "nobody" },
      'The project has no agent "nobody". Its agents are files in agents/ of its configuration folder.',
    ],
    ["a model that is not there", { model: "nope/x" }, "Model not found: nope/x."],
  ])("%s", async (_, change, error) => {
    sandbox.behave({});
    const id = newId();
    const choice = { ...CHOICE, ...change };
    expect((await give(sandbox, { prompt_id: id, text: "Do it", choice })).status).toBe(200);
    expect(await outcome(sandbox, id)).toMatchObject({ state: "failed", error });
    expect((await sandbox.call("POST", "/svc/choice", "platform", CHOICE)).status).toBe(200);
  });

  test("an abort by svc or a person, and a restart of the runtime", async () => {
    sandbox.behave({ runMs: 60_000 });
    const before = said();
    const [first, second, third, fourth] = [newId(), newId(), newId(), newId()];
    const running = async (id: string) => {
      await until(
        "it is taken",
        async () => (await give(sandbox, { prompt_id: id, text: "x" })).status === 200,
      );
      await sandbox.untilHealth("it runs", ({ busy }) => busy);
    };
    await running(first);
    await sandbox.call("POST", "/svc/abort", "platform");
    expect(await outcome(sandbox, first)).toMatchObject({ state: "aborted", error: "The run was aborted." });
    await running(second);
    sandbox.behave({ runMs: 60_000, aborts: 1 });
    await until("it is aborted", async () => {
      await sandbox.call("POST", "/session/ses_1/abort");
      return !(await sandbox.health()).busy;
    });
    expect(await outcome(sandbox, second)).toMatchObject({ state: "aborted" });
    await running(third);
    killFound((await sandbox.health()).runtime_pid, "SIGKILL");
    expect(await outcome(sandbox, third)).toMatchObject({
      state: "interrupted",
      error: "The agent runtime restarted in the middle of the answer.",
    });
    await running(fourth);
    await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "1" } });
    expect(await outcome(sandbox, fourth)).toMatchObject({ state: "interrupted" });
    expect(said()).toBe(before + 4);
    await sandbox.untilHealth("it works again", ({ runtime }) => runtime === "ok");
  });
});

test("delivers one prompt at a time, in the session's conversation, and waits for a person's messages", async () => {
  const [runsOn, isDone] = [{ runMs: 3_600_000 }, { finish: true }];
  sandbox.behave(runsOn);
  const [first, second] = [newId(), newId()];
  await give(sandbox, { prompt_id: first, text: "one" });
  const busy = { status: 409, body: { code: "session_busy" } };
  expect(await give(sandbox, { prompt_id: second, text: "two" })).toMatchObject(busy);
  sandbox.behave(isDone);
  await outcome(sandbox, first);
  sandbox.behave(runsOn);
  await sandbox.call("POST", "/session/ses_1/prompt_async", "user", {
    messageID: "msg_person",
    parts: [{ type: "text", text: "me" }],
  });
  expect(await give(sandbox, { prompt_id: second, text: "two" })).toMatchObject(busy);
  sandbox.behave(isDone);
  expect(await outcome(sandbox, second, "two")).toMatchObject({ state: "answered" });
  const messages = await (await sandbox.call("GET", "/session/ses_1/message")).json();
  const texts = messages.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text);
  expect(texts.slice(-6)).toEqual(["one", "answer to one", "me", "answer to me", "two", "answer to two"]);
});

test("delivers a prompt once for many concurrent requests", async () => {
  sandbox.behave({ runMs: 50 });
  const before = said();
  const id = newId();
  const all = await Promise.all(
    Array.from({ length: 20 }, () => give(sandbox, { prompt_id: id, text: "x" })),
  );
  expect(all.every(({ status }) => status === 200)).toBe(true);
  expect(said()).toBe(before + 1);
  await outcome(sandbox, id, "x");
});

test("a new daemon on the same home knows earlier prompts", async () => {
  sandbox.behave({ runMs: 300 });
  const before = said();
  const id = newId();
  expect(await outcome(sandbox, id)).toMatchObject({ state: "answered" });
  const home = { SVC_RUNTIME_HOME: sandbox.home, STANDIN: join(sandbox.home, "standin.json") };
  await using next = await startSandbox({ env: home });
  await next.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(await outcome(next, id)).toMatchObject({ state: "answered" });
  expect(said()).toBe(before + 1);
});

test("rejects prompts while the runtime is not ready", async () => {
  await using hanging = await startSandbox({ behaviour: { hang: true } });
  const answer = await give(hanging, { prompt_id: newId(), text: "x" });
  expect(answer).toMatchObject({ status: 503, body: { code: "unavailable" } });
});

test.each<[unknown, string]>([
  ["no json", "invalid_json"],
  [{}, "validation_failed"],
  [{ prompt_id: "x", text: "x" }, "validation_failed"],
  [{ prompt_id: newId(), text: "" }, "validation_failed"],
  [{ prompt_id: newId(), text: 1 }, "validation_failed"],
  [{ prompt_id: newId(), text: "x", wait: 1 }, "validation_failed"],
])("rejects %j", async (body, code) => {
  expect(await give(sandbox, body)).toMatchObject({ status: 400, body: { code } });
  expect((await sandbox.call("POST", "/svc/prompt", "user", body)).status).toBe(403);
});
