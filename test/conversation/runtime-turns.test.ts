import { describe, expect, test } from "bun:test";
import { askOf, type PermissionReply } from "../../src/conversation/runtime-event.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import { RuntimeTurns } from "../../src/conversation/runtime-turns.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";
import { CONVERSATION, RuntimeHost } from "../helpers/runtime-host.ts";

const RUNS = { numRuns: share(150, 5_000) };

/** What the server stores: by id, in the order of the first sight, and what is complete stays so. */
class Stored {
  readonly parts = new Map<string, RuntimePart>();
  readonly states = new Map<string, string>();
  /** Permission requests of which the end, but not the answer, is known. */
  readonly missed = new Set<string>();

  take(turns: RuntimeTurns): void {
    const changes = turns.takeChanges();
    for (const { turnId, state } of changes.turns) this.states.set(turnId, state);
    for (const part of changes.parts)
      if (!this.parts.get(part.partId)?.isComplete || part.isComplete) this.parts.set(part.partId, part);
    for (const [id, part] of this.parts) {
      if (part.kind !== "permission" || part.isComplete || (changes.open?.includes(id) ?? true)) continue;
      this.parts.set(id, { ...part, isComplete: true });
      this.missed.add(id);
    }
  }

  get texts(): string[] {
    const texts = [...this.parts.values()].filter(({ kind }) => kind === "prompt" || kind === "text");
    return texts.map(({ partId, kind, text }) => `${partId} ${kind} ${text}`);
  }
}

type Step =
  | "prompt"
  | "answer"
  | "word"
  | "plan"
  | "question"
  | "permission"
  | "reply"
  | "end"
  | "fail"
  | "store"
  | "cut"
  | "again";

/** The runtime's side of a conversation, one step at a time; as the real one, it answers one prompt after the other. */
class Talk {
  readonly host = new RuntimeHost();
  readonly #events: unknown[] = [];
  #prompts = 0;
  #answered = 0;
  #isOpen = false;
  #tools = 0;
  #question: { id: string; answer: () => void } | null = null;
  /** The last plan of each part, the answers to questions, and the replies to permission requests; null: none yet. */
  readonly plans = new Map<string, string>();
  readonly answers = new Map<string, string | null>();
  readonly replies = new Map<string, PermissionReply | null>();

  constructor() {
    this.host.emit = (type, properties) =>
      void this.#events.push(
        structuredClone({ type, properties: { sessionID: CONVERSATION, ...properties } }),
      );
  }

  takeEvents(): unknown[] {
    return this.#events.splice(0);
  }

  do(step: Step): void {
    const { host } = this;
    const n = this.#answered;
    if (step === "prompt") {
      const id = `msg_${this.#prompts++}`;
      host.message({ id, role: "user" });
      host.part(id, { id: `prt_${id}`, type: "text", text: `prompt ${id}` });
    }
    if (step === "answer" && !this.#isOpen && n < this.#prompts) {
      this.#isOpen = true;
      host.setBusy(true);
      host.message({ id: `msg_${n}a`, role: "assistant", parentID: `msg_${n}` });
      host.part(`msg_${n}a`, { id: `prt_${n}a`, type: "text", text: "" });
    }
    if (!this.#isOpen) return;
    if (step === "word") host.delta(`msg_${n}a`, `prt_${n}a`, `word${n} `);
    const message = `msg_${n}a`;
    const tool = (id: string, name: string, status: string, state: object) =>
      host.part(message, { id, callID: `call_${id}`, type: "tool", tool: name, state: { status, ...state } });
    if (step === "plan") {
      const id = `prt_t${this.#tools++}`;
      const todos = [{ content: `step ${id}`, status: "in_progress" }];
      tool(id, "todowrite", "pending", { input: {} });
      tool(id, "todowrite", "completed", { input: { todos } });
      this.plans.set(id, `step ${id}`);
    }
    if (step === "question" && !this.#question) {
      const id = `prt_t${this.#tools++}`;
      const input = { questions: [{ question: `which ${id}?`, options: [] }] };
      tool(id, "question", "running", { input });
      this.answers.set(id, null);
      const answer = () => {
        tool(id, "question", "completed", { input, metadata: { answers: [[`this ${id}`]] } });
        this.answers.set(id, `this ${id}`);
      };
      this.#question = { id, answer };
    }
    if (step === "permission") {
      const id = `per_${this.#tools++}`;
      host.ask("permission", {
        id,
        permission: "bash",
        patterns: [id],
        tool: { messageID: message, callID: "call_1" },
      });
      this.replies.set(id, null);
    }
    const [asked] = host.asks;
    if (step === "reply" && asked) {
      const reply = this.#tools % 2 ? "once" : "reject";
      host.reply(String(asked["id"]), "reply", { reply });
      this.replies.set(String(asked["id"]), reply);
    }
    if (step === "reply" || step === "end") {
      this.#question?.answer();
      this.#question = null;
    }
    // a run ends only when it waits for nothing
    if (step === "end" && host.asks.length > 0) return;
    if (step === "end" || step === "fail") {
      this.#question = null;
      const how =
        step === "end" ? { finish: "stop" } : { error: { name: "APIError", data: { message: "no" } } };
      host.message({ id: `msg_${n}a`, role: "assistant", time: { created: 1, completed: 2 }, ...how });
      host.setBusy(false);
      this.#isOpen = false;
      this.#answered++;
    }
  }
}

const steps = fc.array(
  fc.constantFrom<Step>(
    "prompt",
    "answer",
    "answer",
    "word",
    "word",
    "plan",
    "question",
    "permission",
    "reply",
    "end",
    "end",
    "fail",
    "store",
    "cut",
    "again",
  ),
  { maxLength: 60 },
);

test("whatever is cut, repeated and stored in between, the stored conversation is the runtime's, in order", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const talk = new Talk();
      const stored = new Stored();
      const follow = () => {
        const turns = new RuntimeTurns(CONVERSATION);
        const asks = talk.host.asks.flatMap((value) => askOf(value) ?? []);
        turns.applySnapshot(structuredClone(talk.host.messages), talk.host.isBusy, asks);
        return turns;
      };
      let turns = follow();
      let last: unknown[] = [];
      for (const step of all) {
        // events that were lost with the connection, or that come twice
        if (step === "cut") {
          talk.takeEvents();
          turns = follow();
        }
        if (step === "again") for (const event of last) if (!isDelta(event)) turns.applyEvent(event);
        if (step === "store") stored.take(turns);
        talk.do(step);
        if (step === "cut" || step === "again" || step === "store") continue;
        last = talk.takeEvents();
        for (const event of last) turns.applyEvent(event);
      }
      stored.take(turns);
      const { messages } = talk.host;
      const expected = messages.flatMap(({ info, parts }) =>
        parts
          .filter(({ type }) => type === "text")
          .map(({ id, text }) => `${id} ${info["role"] === "user" ? "prompt" : "text"} ${text}`),
      );
      expect(stored.texts.toSorted()).toEqual(expected.toSorted());
      const isOf = (role: string) => (text: string) => text.includes(` ${role} `);
      for (const kind of ["prompt", "text"])
        expect(stored.texts.filter(isOf(kind))).toEqual(expected.filter(isOf(kind)));
      for (const [id, plan] of talk.plans)
        expect(stored.parts.get(id)).toMatchObject({ plan: [{ text: plan }], isComplete: true });
      for (const [id, answer] of talk.answers)
        expect(stored.parts.get(id)).toMatchObject({
          isComplete: answer !== null,
          request: { request_id: `call_${id}`, questions: [{ answers: answer === null ? [] : [answer] }] },
        });
      for (const [id, reply] of talk.replies) {
        const part = stored.parts.get(id);
        // asked and answered while nobody followed
        if (!part) continue;
        expect(part.isComplete || reply === null).toBe(true);
        if (!stored.missed.has(id)) expect(part.request?.reply ?? null).toBe(reply);
      }
      const answers = messages.filter(({ info }) => info["role"] === "assistant");
      for (const { info } of answers) {
        const state = info["error"] ? "failed" : info["finish"] ? "done" : "working";
        expect(stored.states.get(String(info["parentID"]))).toBe(state);
      }
    }),
    RUNS,
  );
});

const isDelta = (event: unknown) => Reflect.get(Object(event), "type") === "message.part.delta";

test("nothing that a sandbox sends makes it throw", () => {
  const names = [
    "type",
    "properties",
    "info",
    "part",
    "sessionID",
    "id",
    "messageID",
    "time",
    "state",
    "role",
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(CONVERSATION, "msg_1", "prt_1", "user", "assistant", "tool", "text", 1e300, -1),
  );
  const object = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(value, fc.dictionary(fc.constantFrom(...names), value)),
  );
  const type = fc.constantFrom(
    "message.updated",
    "message.part.updated",
    "message.part.delta",
    "session.status",
    "session.error",
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ type, properties: object }), { maxLength: 10 }),
      fc.array(object),
      (events, messages) => {
        const turns = new RuntimeTurns(CONVERSATION);
        turns.applySnapshot(messages, false, []);
        for (const event of events) turns.applyEvent(event);
        for (const { startedAt, endedAt } of turns.takeChanges().turns)
          for (const at of [startedAt, endedAt ?? 0]) expect(new Date(at).getTime()).toBe(at);
      },
    ),
    RUNS,
  );
});

test("parts that come before their message, and texts of an answer that ended without their end, are complete", () => {
  const turns = new RuntimeTurns(CONVERSATION);
  const event = (type: string, properties: object) => turns.applyEvent({ type, properties });
  const part = { sessionID: CONVERSATION, messageID: "msg_1a", id: "prt_1", type: "text", text: "early" };
  event("message.part.updated", { part });
  expect(turns.hasChanges).toBe(false);
  const info = {
    sessionID: CONVERSATION,
    id: "msg_1a",
    role: "assistant",
    parentID: "msg_1",
    time: { created: 5 },
  };
  event("message.updated", { info });
  expect(turns.takeChanges().parts).toMatchObject([
    { turnId: "msg_1", text: "early", isComplete: false, at: 5 },
  ]);
  const error = { name: "MessageAbortedError", data: {} };
  event("message.updated", { info: { ...info, time: { created: 5, completed: 6 }, error } });
  expect(turns.takeChanges()).toMatchObject({
    turns: [{ turnId: "msg_1", state: "aborted", error: null, endedAt: 6 }],
    parts: [{ text: "early", isComplete: true }],
  });
});

test.each([
  [{ finish: "stop", completed: true }, true, "done"],
  [{ finish: "tool-calls", completed: true }, true, "working"],
  [{ finish: "tool-calls", completed: true }, false, "interrupted"],
  [{ finish: "", completed: false }, false, "interrupted"],
  [{ finish: "", completed: true }, false, "aborted"],
  [{ finish: "length", completed: true }, false, "done"],
])("an answer with %p, while the runtime is busy: %p, is %s", ({ finish, completed }, isBusy, state) => {
  const turns = new RuntimeTurns(CONVERSATION);
  const base = { sessionID: CONVERSATION, time: { created: 1 } };
  const time = { created: 2, ...(completed && { completed: 3 }) };
  turns.applySnapshot(
    [
      { info: { ...base, id: "msg_1", role: "user" }, parts: [] },
      { info: { ...base, id: "msg_2", role: "assistant", parentID: "msg_1", time, finish }, parts: [] },
    ],
    isBusy,
    null,
  );
  expect(turns.takeChanges().turns).toMatchObject([{ state }]);
});

describe("events of the runtime", () => {
  const base = { sessionID: CONVERSATION, time: { created: 1 } };
  const asked = { sessionID: CONVERSATION, messageID: "msg_1", id: "prt_p", type: "text", text: "do" };
  const prompt = { info: { ...base, id: "msg_1", role: "user" }, parts: [asked] };
  const answer = { ...base, id: "msg_2", role: "assistant", parentID: "msg_1" };
  const error = { name: "UnknownError", data: { message: "Model not found.\n  at x" } };
  const aborted = { name: "MessageAbortedError", data: {} };

  test.each<[string, [string, object][], object]>([
    ["a prompt alone is being answered", [], { state: "working", error: null }],
    [
      "a run that did not begin has the runtime's error",
      [
        ["session.error", { error }],
        ["session.idle", {}],
      ],
      { state: "failed", error: "Model not found." },
    ],
    [
      "one that was aborted before its first answer",
      [
        ["session.error", { error: aborted }],
        ["session.status", { status: { type: "idle" } }],
      ],
      { state: "aborted", error: null },
    ],
    [
      "the error of another conversation",
      [
        ["session.error", { error, sessionID: "ses_2" }],
        ["session.idle", {}],
      ],
      { state: "interrupted", error: null },
    ],
    [
      "an answer that ended in the middle",
      [
        ["message.updated", { info: answer }],
        ["session.status", { status: { type: "idle" } }],
      ],
      { state: "interrupted" },
    ],
    [
      "a run that began after it was read as idle",
      [
        ["message.updated", { info: answer }],
        ["session.idle", {}],
        ["session.status", { status: { type: "busy" } }],
      ],
      { state: "working", endedAt: null },
    ],
    [
      "one that waits to try again",
      [
        ["message.updated", { info: answer }],
        ["session.status", { status: { type: "retry", attempt: 2, message: "no" } }],
      ],
      { state: "working" },
    ],
    [
      "the next message of an answer",
      [
        ["session.idle", {}],
        ["message.updated", { info: answer }],
      ],
      { state: "working" },
    ],
  ])("%s", (_, events, expected) => {
    const turns = new RuntimeTurns(CONVERSATION);
    turns.applySnapshot([prompt], false, null);
    for (const [type, properties] of events)
      turns.applyEvent({ type, properties: { sessionID: CONVERSATION, ...properties } });
    expect(turns.hasChanges).toBe(true);
    expect(turns.takeChanges().turns).toMatchObject([expected]);
    expect(turns.hasChanges).toBe(false);
  });

  test("only texts that were continued count as grown", () => {
    const turns = new RuntimeTurns(CONVERSATION);
    const part = { sessionID: CONVERSATION, messageID: "msg_2", id: "prt_1", type: "text", text: "a" };
    turns.applySnapshot([prompt, { info: answer, parts: [] }], true, null);
    turns.applyEvent({ type: "message.part.updated", properties: { part } });
    const grow = (text: string) =>
      turns.applyEvent({
        type: "message.part.delta",
        properties: {
          sessionID: CONVERSATION,
          messageID: "msg_2",
          partID: "prt_1",
          field: "text",
          delta: text,
        },
      });
    grow("b");
    // it is new
    expect([turns.hasOnlyGrown, turns.grown]).toEqual([false, []]);
    turns.takeChanges();
    grow("c");
    grow("d");
    expect(turns.hasOnlyGrown).toBe(true);
    expect(turns.grown.map(({ text }) => text)).toEqual(["abcd"]);
    turns.applyEvent({ type: "message.part.updated", properties: { part: { ...part, text: "abcde" } } });
    expect([turns.hasOnlyGrown, turns.grown]).toEqual([false, []]);
    turns.takeChanges();
    grow("f");
    turns.applyEvent({ type: "session.idle", properties: { sessionID: CONVERSATION } });
    expect(turns.hasOnlyGrown).toBe(false);
  });
});

test("a text is continued only from where its beginning is known, and from the position that is reported", () => {
  const turns = new RuntimeTurns(CONVERSATION);
  const base = { sessionID: CONVERSATION, time: { created: 1 } };
  const part = { sessionID: CONVERSATION, messageID: "m2", id: "p1", type: "text", text: "ab" };
  const info = { ...base, id: "m2", role: "assistant", parentID: "m1" };
  const grow = (delta: string, offset?: number) =>
    turns.applyEvent({
      type: "message.part.delta",
      properties: { sessionID: CONVERSATION, messageID: "m2", partID: "p1", field: "text", delta, offset },
    });
  const texts = () => turns.takeChanges().parts.map(({ text, mayLack }) => [text, mayLack]);
  turns.applySnapshot([{ info, parts: [part] }], true, null);
  grow("c");
  expect(texts()).toEqual([["ab", true]]);
  for (const [delta, at] of [
    ["b", 1],
    ["bc", 1],
    ["e", 4],
    ["d", 3],
  ] as const)
    grow(delta, at);
  expect(texts()).toEqual([["abcd", true]]);
  grow("d", 3);
  expect(turns.hasChanges).toBe(false);
  turns.applyEvent({ type: "message.part.updated", properties: { part } });
  grow("c");
  expect(texts()).toEqual([["abc", false]]);
  turns.addMessages([{ info, parts: [part] }]);
  turns.takeChanges();
  turns.applyEvent({
    type: "message.updated",
    properties: { info: { ...info, time: { created: 1, completed: 2 } } },
  });
  expect(turns.takeChanges().parts).toMatchObject([{ isComplete: true, mayLack: true }]);
  turns.addMessages([{ info: { ...info, time: { created: 1, completed: 2 } }, parts: [part] }]);
  expect(turns.takeChanges().parts).toMatchObject([{ isComplete: true, mayLack: false }]);
});

test("another attempt empties the texts under way of the agent, and not those of its subagents", () => {
  const turns = new RuntimeTurns(CONVERSATION);
  const of = { sessionID: CONVERSATION, messageID: "m2", type: "text", text: "a" };
  const info = { sessionID: CONVERSATION, id: "m2", role: "assistant", parentID: "m1", time: { created: 1 } };
  const parts = [
    { ...of, id: "p1" },
    { ...of, id: "p2", subagentOf: "p0" },
  ];
  turns.applySnapshot([{ info, parts }], true, null);
  turns.takeChanges();
  const status = { type: "retry", attempt: 1, message: "no" };
  turns.applyEvent({ type: "session.status", properties: { sessionID: CONVERSATION, status } });
  expect(turns.takeChanges().parts).toMatchObject([
    { partId: "p1", text: "", isComplete: true, mayLack: false },
  ]);
});

describe("a turn of several messages", () => {
  const base = { sessionID: CONVERSATION, time: { created: 1 } };
  const user = (id: string) => ({
    info: { ...base, id, role: "user" },
    parts: [{ sessionID: CONVERSATION, messageID: id, id: `${id}p`, type: "text", text: "do" }],
  });
  const answer = (id: string, parentID: string, more: object = {}, parts: object[] = []) => ({
    info: { ...base, id, role: "assistant", parentID, ...more },
    parts: parts.map((part) => ({ sessionID: CONVERSATION, messageID: id, ...part })),
  });
  const whole = { time: { created: 1, completed: 2 }, finish: "stop" };
  const used = (input: number, cost: number) => ({
    cost,
    tokens: { input, output: 1, reasoning: 0, cache: { read: 0, write: 0 } },
  });
  const applied = (messages: object[], isBusy = true) => {
    const turns = new RuntimeTurns(CONVERSATION);
    turns.applySnapshot(messages, isBusy, null);
    return turns;
  };

  test("has the sum of their costs and tokens, and the last model", () => {
    const turns = applied([
      user("m1"),
      answer("m2", "m1", { ...used(10, 0.25), providerID: "p", modelID: "a" }),
      answer("m3", "m1", { ...used(5, 0.5), ...whole, providerID: "p", modelID: "b" }),
    ]);
    const [turn] = turns.takeChanges().turns;
    expect(turn).toMatchObject({ cost: 0.75, tokens: { input: 15, output: 2 }, model: "p/b", state: "done" });
  });

  test("has no cost if the runtime knows none", () => {
    const [turn] = applied([user("m1"), answer("m2", "m1", used(1, 0))]).takeChanges().turns;
    expect(turn?.cost).toBeNull();
  });

  test("is over once a later prompt is answered, and not while that only waits", () => {
    const states = (messages: object[]) =>
      applied(messages)
        .takeChanges()
        .turns.map(({ state }) => state);
    const first = [user("m1"), answer("m2", "m1")];
    expect(states([...first, user("m3")])).toEqual(["working", "working"]);
    expect(states([...first, user("m3"), answer("m4", "m3")])).toEqual(["interrupted", "working"]);
  });

  test("is over at once if it is a note of the daemon, which nothing answers", () => {
    const note = user("m3");
    const parts = [{ id: "p3", type: "text", text: "[svc] It restarted." }];
    const noted = {
      ...note,
      parts: parts.map((part) => ({ ...part, messageID: "m3", sessionID: CONVERSATION })),
    };
    const { turns } = applied([user("m1"), answer("m2", "m1", whole), noted]).takeChanges();
    expect(turns.map(({ state }) => state)).toEqual(["done", "done"]);
  });

  test("ends the texts of the message that is complete, and no others", () => {
    const text = { type: "text", text: "a" };
    const tool = { type: "tool", tool: "bash", state: { status: "running", input: {} } };
    const turns = applied([
      user("m1"),
      answer("m2", "m1", {}, [
        { id: "p1", ...text },
        { id: "p2", ...tool },
      ]),
      answer("m3", "m1", {}, [{ id: "p3", ...text }]),
    ]);
    turns.takeChanges();
    const { info } = answer("m2", "m1", { ...whole, finish: "tool-calls" });
    turns.applyEvent({ type: "message.updated", properties: { info } });
    expect(turns.takeChanges().parts).toMatchObject([{ partId: "p1", isComplete: true }]);
  });

  test("takes no part with another kind of id, and continues no tool and no other field", () => {
    const parts = [
      { id: "../p", type: "text", text: "a" },
      { id: "p1", type: "tool", tool: "bash", state: { status: "running", input: {} } },
      { id: "p2", type: "text", text: "b" },
    ];
    const turns = applied([user("m1"), answer("m2", "m1")]);
    turns.takeChanges();
    for (const part of answer("m2", "m1", {}, parts).parts)
      turns.applyEvent({ type: "message.part.updated", properties: { part } });
    expect(turns.takeChanges().parts.map(({ partId }) => partId)).toEqual(["p1", "p2"]);
    const grow = (partID: string, field: string) =>
      turns.applyEvent({
        type: "message.part.delta",
        properties: { sessionID: CONVERSATION, messageID: "m2", partID, field, delta: "!" },
      });
    grow("p1", "text");
    grow("p2", "metadata");
    grow("p9", "text");
    expect(turns.hasChanges).toBe(false);
    grow("p2", "text");
    expect(turns.takeChanges().parts.map(({ text }) => text)).toEqual(["b!"]);
  });
});
