import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { Prompt } from "../../src/contract/prompt.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import { readEvents } from "../../src/contract/sse.ts";
import type { ConversationPage, ConversationStreamEvent, Turn, TurnPart } from "../../src/contract/turn.ts";
import { STORED_AT_ONCE } from "../../src/features/sessions/conversation/store.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "60", SVC_IDLE_TIMEOUT: "3600" } });
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

/** A running session, followed by the server. */
const followed = () => followedSession(bench, runtimeOf);

async function read(id: string, query = ""): Promise<ConversationPage> {
  const { status, body } = await bench.call("GET", `/${id}/conversation${query}`);
  expect(status).toBe(200);
  return body;
}

/** Waits until the stored turns are as expected. */
async function becomes(id: string, isRight: (turns: Turn[]) => boolean): Promise<Turn[]> {
  let turns: Turn[] = [];
  await until(
    () => `the stored turns are right, and not ${JSON.stringify(turns)}`,
    async () => {
      turns = (await read(id, "?limit=200")).turns;
      return isRight(turns);
    },
  );
  return turns;
}

const textsOf = (turns: readonly Turn[]) => turns.map(({ parts }) => parts.map(({ text }) => text));
const allParts = (turns: readonly Turn[]): TurnPart[] => turns.flatMap(({ parts }) => parts);

/** A prompt, and its answer so far. */
function ask(runtime: RuntimeHost, name: string, text: string, reply: string): void {
  runtime.message({ id: `msg_${name}`, role: "user" });
  runtime.part(`msg_${name}`, { id: `prt_${name}`, type: "text", text });
  runtime.message({
    id: `msg_${name}a`,
    role: "assistant",
    parentID: `msg_${name}`,
    modelID: "m",
    providerID: "p",
  });
  runtime.part(`msg_${name}a`, { id: `prt_${name}a`, type: "text", text: reply, time: { start: 2_000 } });
}

const finish = (runtime: RuntimeHost, name: string, more: object = {}) =>
  runtime.message({
    id: `msg_${name}a`,
    role: "assistant",
    time: { created: 1_500, completed: 3_000 },
    finish: "stop",
    cost: 0.25,
    tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 0 } },
    ...more,
  });

describe("a conversation", () => {
  test("is stored while it happens, with each kind of part", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "Fix the login", "I look");
    const [working] = await becomes(id, ([turn]) => turn?.parts.length === 2);
    expect(working).toEqual({
      turn_id: "msg_1",
      session_id: id,
      number: 1,
      prompt_id: null,
      author: null,
      state: "working",
      error: null,
      retry: null,
      sandbox: 1,
      model: "p/m",
      tokens: null,
      cost: null,
      started_at: "1970-01-01T00:00:01.000Z",
      ended_at: null,
      parts: [
        {
          part_id: "prt_1",
          number: 1,
          parent_id: null,
          kind: "prompt",
          state: "done",
          text: "Fix the login",
          tool: null,
          plan: null,
          request: null,
          file: null,
          cut: false,
          brief: false,
          at: "1970-01-01T00:00:01.000Z",
        },
        {
          part_id: "prt_1a",
          number: 2,
          parent_id: null,
          kind: "text",
          state: "running",
          text: "I look",
          tool: null,
          plan: null,
          request: null,
          file: null,
          cut: false,
          brief: false,
          at: "1970-01-01T00:00:02.000Z",
        },
      ],
    });
    runtime.delta("msg_1a", "prt_1a", " around.");
    runtime.part("msg_1a", { id: "prt_r", type: "reasoning", text: "Hm", time: { start: 1, end: 2 } });
    runtime.part("msg_1a", {
      id: "prt_t",
      type: "tool",
      tool: "edit",
      state: {
        status: "completed",
        input: { filePath: "a.ts" },
        output: "done",
        title: "a.ts",
        metadata: { diff: "-a\n+b\n", filediff: { file: "a.ts", additions: 1, deletions: 1 } },
      },
    });
    runtime.part("msg_1a", { id: "prt_s", type: "step-finish" });
    finish(runtime, "1");
    runtime.setBusy(false);
    const [done] = await becomes(id, ([turn]) => turn?.state === "done");
    expect(done).toMatchObject({
      tokens: { input: 13, output: 7, cached: 3 },
      cost: 0.25,
      ended_at: "1970-01-01T00:00:03.000Z",
    });
    expect(done?.parts.slice(1)).toMatchObject([
      { kind: "text", state: "done", text: "I look around." },
      { kind: "reasoning", state: "done", text: "Hm" },
      {
        kind: "tool",
        state: "done",
        text: "",
        tool: {
          name: "edit",
          title: "a.ts",
          input: [{ name: "filePath", value: "a.ts" }],
          output: "done",
          error: null,
          files: [{ path: "a.ts", additions: 1, deletions: 1 }],
          patch: "-a\n+b\n",
        },
      },
    ]);
  });

  test("stays when its sandbox is stopped, and goes on in the next one", async () => {
    const { id, runtime } = await followed();
    ask(runtime, "1", "one", "first");
    finish(runtime, "1");
    runtime.setBusy(true);
    ask(runtime, "2", "two", "half an ans");
    await becomes(id, (turns) => allParts(turns).length === 4);
    await bench.call("POST", `/${id}/stop`);
    await bench.becomes(id, "stopped");
    const turns = await becomes(id, ([, second]) => second?.state === "interrupted");
    expect(textsOf(turns)).toEqual([
      ["one", "first"],
      ["two", "half an ans"],
    ]);
    expect(turns.map(({ state }) => state)).toEqual(["done", "interrupted"]);
    expect(turns[1]?.parts.map(({ state }) => state)).toEqual(["done", "interrupted"]);
    await bench.call("POST", `/${id}/restart`);
    await bench.becomes(id, "running");
    const next = runtimeOf(id);
    await until("the next sandbox is followed", () => next.followers > 0);
    ask(next, "3", "three", "third");
    finish(next, "3");
    const all = await becomes(id, (found) => found.length === 3 && found[2]?.state === "done");
    expect(all.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(textsOf(all)[2]).toEqual(["three", "third"]);
  });

  test("has what happened while its stream of events was cut, once", async () => {
    const { id, runtime } = await followed();
    ask(runtime, "1", "one", "first");
    await becomes(id, (turns) => allParts(turns).length === 2);
    runtime.cut();
    runtime.delta("msg_1a", "prt_1a", " and more");
    finish(runtime, "1");
    ask(runtime, "2", "two", "second");
    finish(runtime, "2");
    const turns = await becomes(id, (found) => found[1]?.state === "done");
    expect(textsOf(turns)).toEqual([
      ["one", "first and more"],
      ["two", "second"],
    ]);
  });

  test("of a prompt is stored before the prompt has ended, with its author", async () => {
    const { id, runtime } = await followed();
    // nothing is followed: only the end of the prompt can store it
    runtime.emit = () => {};
    const promptId = crypto.randomUUID();
    bench.provider.onPrompt = () => {
      const name = `1${messageEndOf(promptId)}`;
      if (runtime.messages.length === 0) {
        ask(runtime, name, "Say it", "");
        runtime.part(`msg_${name}a`, { id: "prt_b", type: "text", text: "Before the tool" });
        runtime.part(`msg_${name}a`, {
          id: "prt_t",
          type: "tool",
          tool: "bash",
          state: { status: "error", input: {}, error: "no" },
        });
        runtime.part(`msg_${name}a`, { id: "prt_x", type: "text", text: "It is" });
        runtime.part(`msg_${name}a`, { id: "prt_y", type: "text", text: "done." });
        finish(runtime, name);
      }
      return { state: "answered", error: null };
    };
    await bench.call("POST", `/${id}/prompt`, { body: { text: "Say it", prompt_id: promptId } });
    let prompt: Partial<Prompt> = {};
    await until("the prompt is answered", async () => {
      prompt = (await bench.call("GET", `/${id}/prompts/${promptId}`)).body.prompt;
      return prompt.state === "answered";
    });
    expect(prompt.answer).toBe("It is\n\ndone.");
    const { turns } = await read(id);
    expect(turns).toMatchObject([
      { prompt_id: promptId, author: { kind: "user", name: expect.stringMatching(/./) }, state: "done" },
    ]);
    expect(turns[0]?.parts.find(({ kind }) => kind === "tool")).toMatchObject({
      state: "failed",
      tool: { error: "no" },
    });
  });

  test("is read in pages, the newest parts first", async () => {
    const { id, runtime } = await followed();
    for (const name of ["1", "2", "3"]) {
      ask(runtime, name, `prompt ${name}`, `answer ${name}`);
      finish(runtime, name);
    }
    await becomes(id, (turns) => turns[2]?.state === "done");
    const first = await read(id, "?limit=3");
    expect(textsOf(first.turns)).toEqual([["answer 2"], ["prompt 3", "answer 3"]]);
    const second = await read(id, `?limit=3&cursor=${first.next_cursor}`);
    expect(textsOf(second.turns)).toEqual([["prompt 1", "answer 1"], ["prompt 2"]]);
    expect(second.next_cursor).toBeUndefined();
  });

  test("does not contain the values of secrets, or tokens", async () => {
    const value = "correct horse\nbattery";
    await bench.api.call("PUT", `/v1/projects/${bench.projectId}/secrets/STAPLE`, { body: { value } });
    const { id, runtime } = await followed();
    ask(runtime, "1", `use ${value}`, `export A=svc_pat_${"a".repeat(43)}`);
    runtime.part("msg_1a", {
      id: "prt_t",
      type: "tool",
      tool: "bash",
      state: { status: "completed", input: { command: "env" }, output: `STAPLE=${value}\0`, metadata: {} },
    });
    const turns = await becomes(id, (found) => allParts(found).length === 3);
    expect(textsOf(turns)).toEqual([["use [secret STAPLE]", "export A=[token of svc]", ""]]);
    expect(turns[0]?.parts[2]?.tool?.output).toBe("STAPLE=[secret STAPLE]\uFFFD");
  });

  test("of a subagent, and text for the model alone, are left out", async () => {
    const { id, runtime } = await followed();
    ask(runtime, "1", "one", "first");
    runtime.part("msg_1", { id: "prt_0", type: "text", text: "for the model", synthetic: true });
    runtime.emit("message.updated", {
      info: { id: "msg_s", sessionID: "ses_2", role: "user", time: { created: 1 } },
    });
    runtime.emit("message.part.updated", {
      part: { id: "prt_s2", sessionID: "ses_2", messageID: "msg_s", type: "text", text: "sub" },
    });
    ask(runtime, "2", "two", "second");
    finish(runtime, "2");
    const turns = await becomes(id, (found) => found[1]?.state === "done");
    expect(textsOf(turns)).toEqual([
      ["one", "first"],
      ["two", "second"],
    ]);
  });
});

describe("the stream of a conversation", () => {
  /** Reads events until one matches. */
  async function events(
    id: string,
    isLast: (event: ConversationStreamEvent, eventId: string) => boolean,
    after?: string,
  ): Promise<{ events: ConversationStreamEvent[]; lastId: string }> {
    const response = await fetch(
      `${bench.api.url}/v1/projects/${bench.projectId}/sessions/${id}/conversation/events`,
      {
        headers: {
          Authorization: `Bearer ${bench.api.token}`,
          ...(after !== undefined && { "Last-Event-ID": after }),
        },
        signal: AbortSignal.timeout(WAIT_LIMIT_MS),
      },
    );
    expect(response.status).toBe(200);
    const found: ConversationStreamEvent[] = [];
    if (!response.body) throw new Error("no body");
    for await (const { data, id: lastId } of readEvents(response.body)) {
      const event: ConversationStreamEvent = JSON.parse(data);
      found.push(event);
      // leaving the loop ends the request
      if (isLast(event, lastId)) return { events: found, lastId };
    }
    throw new Error(`the stream ended after ${JSON.stringify(found)}`);
  }

  const isTurn = (state: Turn["state"]) => (event: ConversationStreamEvent) =>
    event.type === "turn" && event.turn.state === state;

  test("sends what is stored, then only what is added", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "one", "fir");
    await becomes(id, (turns) => allParts(turns).length === 2);
    const heard = events(id, isTurn("done"));
    runtime.delta("msg_1a", "prt_1a", "st w");
    await becomes(id, (turns) => textsOf(turns)[0]?.[1] === "first w");
    runtime.delta("msg_1a", "prt_1a", "ord");
    await becomes(id, (turns) => textsOf(turns)[0]?.[1] === "first word");
    finish(runtime, "1");
    const { events: all } = await heard;
    const text = all.reduce((sum, event) => {
      if (event.type === "part" && event.part.part_id === "prt_1a") return event.part.text;
      if (event.type !== "text") return sum;
      expect(event).toMatchObject({ turn_id: "msg_1", part_id: "prt_1a", from: sum.length });
      return sum + event.text;
    }, "");
    expect(all[0]).toMatchObject({ type: "turn", turn: { turn_id: "msg_1", state: "working" } });
    expect("first word").toStartWith(text);
    expect(text.length).toBeGreaterThan(5);
  });

  test("passes a text on before it is stored, and each character once", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "one", "0");
    await becomes(id, (turns) => allParts(turns).length === 2);
    let text = "";
    let ahead = 0;
    let lastId = "";
    const heard = events(id, (event, eventId) => {
      if (event.type === "part" && event.part.part_id === "prt_1a") text = event.part.text;
      if (event.type === "text") {
        expect(event.from).toBe(text.length);
        text += event.text;
        // what is stored has the id of a new version
        if (eventId === lastId) ahead++;
      }
      lastId = eventId;
      return isTurn("done")(event);
    });
    await until("the stream is there", () => text === "0");
    for (let word = 1; word < 10; word++) {
      runtime.delta("msg_1a", "prt_1a", `${word}`);
      await until("the word is passed on", () => text.endsWith(`${word}`));
      const stored = textsOf((await read(id)).turns)[0]?.[1] ?? "";
      expect(text).toStartWith(stored);
    }
    finish(runtime, "1");
    await heard;
    expect(text).toBe("0123456789");
    // a word that comes while the stream reads the database is sent with what is stored
    expect(ahead).toBeGreaterThan(0);
  });

  test("continues after an event, and after a page", async () => {
    const { id, runtime } = await followed();
    ask(runtime, "1", "one", "first");
    finish(runtime, "1");
    await becomes(id, ([turn]) => turn?.state === "done");
    const { event_id: after } = await read(id);
    const whole = await events(id, ({ type }) => type === "part");
    ask(runtime, "2", "two", "second");
    finish(runtime, "2");
    const isSecond = (event: ConversationStreamEvent) =>
      event.type === "part" && event.part.part_id === "prt_2a" && event.part.state === "done";
    const { events: more, lastId } = await events(id, isSecond, after);
    expect(more.every((event) => JSON.stringify(event).includes("msg_2"))).toBe(true);
    expect(whole.events[0]).toMatchObject({ type: "turn", turn: { turn_id: "msg_1" } });
    ask(runtime, "3", "three", "third");
    const { events: last } = await events(id, ({ type }) => type === "turn", lastId);
    expect(last.at(-1)).toMatchObject({ turn: { turn_id: expect.stringMatching(/msg_[23]/) } });
  });

  test("sends each part once, also of more than are read at a time", async () => {
    const { id, runtime } = await followed();
    const names = Array.from({ length: 2 * STORED_AT_ONCE + 50 }, (_, index) => `n${index}`);
    runtime.message({ id: "msg_1", role: "user" });
    runtime.message({ id: "msg_1a", role: "assistant", parentID: "msg_1" });
    for (const name of names)
      runtime.part("msg_1a", { id: name, type: "text", text: name, time: { end: 1 } });
    await becomes(id, (turns) => allParts(turns).at(-1)?.part_id === names.at(-1));
    const isLast = (event: ConversationStreamEvent) =>
      event.type === "part" && event.part.part_id === names.at(-1);
    const { events: all } = await events(id, isLast);
    expect(all.flatMap((event) => (event.type === "part" ? event.part.part_id : []))).toEqual(names);
  });

  test("reports that a sandbox ended in the middle of an answer, and ends with the session", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "one", "fir");
    await becomes(id, (turns) => allParts(turns).length === 2);
    const cut = events(id, (event) => event.type === "part" && event.part.state === "interrupted");
    await bench.call("POST", `/${id}/stop`);
    expect((await cut).events.at(-1)).toMatchObject({ part: { part_id: "prt_1a", text: "fir" } });
    const ended = events(id, ({ type }) => type === "deleted");
    await bench.call("DELETE", `/${id}`);
    expect((await ended).events.at(-1)).toEqual({ type: "deleted", session_id: id });
  });
});

describe("what the agent plans and asks", () => {
  const toolPart = (runtime: RuntimeHost, id: string, tool: string, status: string, state: object) =>
    runtime.part("msg_1a", { id, callID: `call_${id}`, type: "tool", tool, state: { status, ...state } });
  const questions = [{ question: "Which\u0000?", options: [{ label: "Left", description: "the first" }] }];
  const asksPermission = (runtime: RuntimeHost, id: string) =>
    runtime.ask("permission", {
      id,
      permission: "bash",
      patterns: ["rm *"],
      tool: { messageID: "msg_1a", callID: "call_x" },
    });
  const partOf = (turns: readonly Turn[], id: string) =>
    allParts(turns).find(({ part_id }) => part_id === id);
  const isDone = (id: string) => (turns: readonly Turn[]) => partOf(turns, id)?.state !== "running";
  const reply = (id: string, request_id: string, answer: string) =>
    bench.call("POST", `/${id}/answer`, { body: { request_id, answer } });

  test("is stored with the answers, and with the person who answered", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "Tidy up", "");
    const todos = [
      { content: "look", status: "completed", priority: "high" },
      { content: "tidy", status: "in_progress" },
      { content: "rest", status: "no such" },
    ];
    toolPart(runtime, "prt_p", "todowrite", "completed", { input: { todos } });
    toolPart(runtime, "prt_q", "question", "running", { input: { questions } });
    runtime.ask("question", { id: "que_1", questions, tool: { messageID: "msg_1a", callID: "call_prt_q" } });
    asksPermission(runtime, "per_1");
    const waiting = await becomes(id, (turns) => partOf(turns, "per_1") !== undefined);
    expect(partOf(waiting, "prt_p")).toMatchObject({
      kind: "plan",
      state: "done",
      tool: null,
      plan: [
        { text: "look", state: "completed" },
        { text: "tidy", state: "in_progress" },
        { text: "rest", state: "pending" },
      ],
    });
    const asked = { permission: null, patterns: [], reply: null, answered_by: null };
    const { question: _, ...rest } = { ...questions[0] };
    expect(partOf(waiting, "prt_q")).toMatchObject({
      kind: "question",
      state: "running",
      request: {
        ...asked,
        request_id: "call_prt_q",
        questions: [{ ...rest, question: "Which\uFFFD?", answers: [] }],
      },
    });
    expect(partOf(waiting, "per_1")).toMatchObject({
      kind: "permission",
      state: "running",
      request: { ...asked, request_id: "per_1", permission: "bash", patterns: ["rm *"], questions: [] },
    });
    expect((await reply(id, "que_1", "Left")).status).toBe(200);
    const metadata = { answers: [["Left"]] };
    toolPart(runtime, "prt_q", "question", "completed", { input: { questions }, metadata });
    expect((await reply(id, "per_1", "reject")).status).toBe(200);
    const turns = await becomes(id, (all) => isDone("prt_q")(all) && isDone("per_1")(all));
    const answered_by = { name: "first", kind: "user" };
    expect(partOf(turns, "prt_q")).toMatchObject({
      state: "done",
      request: { questions: [{ answers: ["Left"] }], answered_by },
    });
    expect(partOf(turns, "per_1")).toMatchObject({
      state: "failed",
      request: { reply: "reject", answered_by },
    });
  });

  test("an answer that the agent no longer takes is nobody's", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "Tidy up", "");
    asksPermission(runtime, "per_1");
    await becomes(id, (turns) => partOf(turns, "per_1") !== undefined);
    const before = runtime.reply.bind(runtime);
    runtime.reply = () => false;
    expect(await reply(id, "per_1", "once")).toMatchObject({ status: 409, body: { code: "not_waiting" } });
    runtime.reply = before;
    runtime.reply("per_1", "reply", { reply: "always" });
    const turns = await becomes(id, isDone("per_1"));
    expect(partOf(turns, "per_1")).toMatchObject({
      state: "done",
      request: { reply: "always", answered_by: null },
    });
  });

  test("a permission that was given while nobody followed is answered; one of an aborted turn is not", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    ask(runtime, "1", "Tidy up", "");
    asksPermission(runtime, "per_1");
    asksPermission(runtime, "per_2");
    await becomes(id, (turns) => partOf(turns, "per_2") !== undefined);
    runtime.cut();
    runtime.reply("per_1", "reply", { reply: "once" });
    const turns = await becomes(id, isDone("per_1"));
    expect(partOf(turns, "per_1")).toMatchObject({ state: "done", request: { reply: null } });
    expect(partOf(turns, "per_2")).toMatchObject({ state: "running" });
    await until("it is followed again", () => runtime.followers > 0);
    finish(runtime, "1", { error: { name: "MessageAbortedError", data: {} } });
    runtime.setBusy(false);
    const aborted = await becomes(id, isDone("per_2"));
    expect(partOf(aborted, "per_2")).toMatchObject({ state: "interrupted", request: { reply: null } });
    runtime.cut();
    await until("it is followed once more", () => runtime.followers > 0);
    expect(partOf((await read(id)).turns, "per_2")).toMatchObject({ state: "interrupted" });
  });
});
