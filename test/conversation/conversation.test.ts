import { describe, expect, test } from "bun:test";
import { Conversation } from "../../src/conversation/conversation.ts";
import type { ConversationEvent, Snapshot } from "../../src/conversation/conversation-event.ts";
import type { Message, Part, RuntimeEvent } from "../../src/conversation/runtime-event.ts";
import { readRuntimeEvent } from "../../src/conversation/runtime-event.ts";
import type { ToolUse } from "../../src/conversation/tools.ts";
import { fc } from "../helpers/property.ts";

const ID = "ses_ours";
const message = (id: string, change: Partial<Message> = {}): Message => ({
  id,
  sessionId: ID,
  role: "assistant",
  parentId: "prompt",
  isComplete: false,
  finish: null,
  error: null,
  ...change,
});
const text = (id: string, messageId: string, words: string, isComplete: boolean): Part => ({
  kind: "text",
  id,
  messageId,
  sessionId: ID,
  text: words,
  isComplete,
});
const use = (state: ToolUse["state"]): ToolUse => ({
  tool: "bash",
  state,
  title: "ls",
  error: null,
  files: [],
  subagent: null,
  input: [],
  output: "",
  patch: "",
});
const tool = (id: string, messageId: string, state: ToolUse["state"], sessionId = ID): Part => ({
  kind: "tool",
  id,
  messageId,
  sessionId,
  use: use(state),
});

/** An event of the runtime, and its state after the event. */
interface Step {
  event: RuntimeEvent;
  after: Snapshot;
}

interface Wish {
  kind: "text" | "tool" | "thought";
  pieces: string[];
}

/** A run of several messages, as the real runtime streams it: it stores a text only once it is complete. */
function play(messages: readonly (readonly Wish[])[]): {
  steps: Step[];
  texts: Map<string, string>;
  tools: string[];
} {
  const held: Snapshot = { messages: [], status: { type: "idle" }, asks: [], sessions: [] };
  const steps: Step[] = [];
  const texts = new Map<string, string>();
  const tools: string[] = [];
  const emit = (event: RuntimeEvent) => steps.push({ event, after: structuredClone(held) });
  const status = (type: "busy" | "idle") => {
    held.status = { type };
    emit({ type: "status", sessionId: ID, status: { type } });
  };
  const prompt = { message: message("prompt", { role: "user", parentId: null }), parts: [] as Part[] };
  held.messages.push(prompt);
  emit({ type: "message", message: prompt.message });
  prompt.parts.push(text("prompt-text", "prompt", "Do it", true));
  emit({ type: "part", part: text("prompt-text", "prompt", "Do it", true) });
  status("busy");
  for (const [m, wishes] of messages.entries()) {
    const id = `m${m}`;
    const entry = { message: message(id), parts: [] as Part[] };
    held.messages.push(entry);
    emit({ type: "message", message: entry.message });
    for (const [p, wish] of wishes.entries()) {
      const partId = `${id}p${p}`;
      const keep = (part: Part) => {
        entry.parts[p] = part;
        emit({ type: "part", part });
      };
      if (wish.kind === "tool") {
        tools.push(`${partId} running`, `${partId} completed`);
        for (const state of ["pending", "running", "completed"] as const) keep(tool(partId, id, state));
        continue;
      }
      const isThought = wish.kind === "thought";
      const hidden: Part = { kind: "hidden", id: partId, messageId: id, sessionId: ID };
      keep(isThought ? hidden : text(partId, id, "", false));
      for (const piece of wish.pieces) {
        emit({ type: "delta", sessionId: ID, messageId: id, partId, text: piece });
      }
      if (!isThought) texts.set(partId, wish.pieces.join("").trimEnd());
      keep(isThought ? hidden : text(partId, id, texts.get(partId) ?? "", true));
    }
    entry.message = message(id, {
      isComplete: true,
      finish: m === messages.length - 1 ? "stop" : "tool-calls",
    });
    emit({ type: "message", message: entry.message });
  }
  status("idle");
  status("idle");
  return { steps, texts, tools };
}

const wish = fc.record({
  kind: fc.constantFrom("text", "text", "tool", "thought"),
  pieces: fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 }), { maxLength: 5 }),
});
const runs = fc.array(fc.array(wish, { maxLength: 4 }), { minLength: 1, maxLength: 4 });

/** What a screen would hold: each part's text as it was shown, the tools and the prompts in their order. */
function shownBy(events: readonly ConversationEvent[]) {
  const texts = new Map<string, string>();
  const tools: string[] = [];
  const prompts: string[] = [];
  const statuses: string[] = [];
  for (const each of events) {
    if (each.type === "text") {
      // only the first piece of a part begins it
      expect(each.begins).toBe(!texts.has(each.partId));
      texts.set(each.partId, (texts.get(each.partId) ?? "") + each.text);
    }
    if (each.type === "tool") tools.push(each.use.state);
    if (each.type === "prompt") prompts.push(each.text);
    if (each.type === "status") statuses.push(each.status.type);
  }
  return { texts, tools, prompts, statuses };
}

function expectWhole(
  events: readonly ConversationEvent[],
  { texts, tools }: ReturnType<typeof play>,
  isCut: boolean,
) {
  const shown = shownBy(events);
  const wanted = new Map([...texts].filter(([, words]) => words !== ""));
  const trimmed = new Map([...shown.texts].map(([id, words]) => [id, words.trimEnd()]));
  for (const [id, words] of trimmed) if (words === "") trimmed.delete(id);
  expect(trimmed).toEqual(wanted);
  expect(shown.prompts).toEqual(["Do it"]);
  // of a tool that was missed while it ran, its end is enough
  expect(shown.tools.filter((state) => state === "completed")).toHaveLength(tools.length / 2);
  if (!isCut) expect(shown.tools).toHaveLength(tools.length);
  // a run that was missed completely was never shown
  expect(shown.statuses.at(-1) ?? "idle").toBe("idle");
}

describe("a run", () => {
  test("is shown completely and once, whatever events are repeated", () => {
    fc.assert(
      fc.property(runs, fc.array(fc.nat()), (wishes, copies) => {
        const run = play(wishes);
        const conversation = new Conversation(ID);
        const out = [
          ...conversation.applySnapshot({ messages: [], status: { type: "idle" }, asks: [], sessions: [] }),
        ];
        const past: [RuntimeEvent, string][] = [];
        for (const [index, { event }] of run.steps.entries()) {
          past.push([event, `evt_${index}`]);
          out.push(...conversation.apply(event, `evt_${index}`));
          const again = past[(copies[index % (copies.length || 1)] ?? 0) % past.length];
          if (again) out.push(...conversation.apply(...again));
        }
        expectWhole(out, run, false);
      }),
    );
  });

  test("is shown completely and once, wherever and however often the connection is lost", () => {
    fc.assert(
      fc.property(runs, fc.array(fc.tuple(fc.nat(60), fc.nat(12)), { maxLength: 4 }), (wishes, cuts) => {
        const run = play(wishes);
        const conversation = new Conversation(ID);
        const out = [
          ...conversation.applySnapshot({ messages: [], status: { type: "idle" }, asks: [], sessions: [] }),
        ];
        for (let at = 0; at < run.steps.length; at++) {
          const cut = cuts.find(([from]) => from === at);
          if (cut) {
            conversation.disconnect();
            // events during the disconnect are lost; then the state is fetched
            at = Math.min(run.steps.length - 1, at + cut[1]);
            const { after } = run.steps[at] as Step;
            out.push(...conversation.applySnapshot(structuredClone(after)));
            continue;
          }
          const { event } = run.steps[at] as Step;
          out.push(...conversation.apply(event, `evt_${at}`));
        }
        const last = run.steps.at(-1) as Step;
        out.push(...conversation.applySnapshot(last.after));
        expectWhole(out, run, true);
      }),
    );
  });

  test("is shown if its message arrives after its parts", () => {
    const conversation = new Conversation(ID);
    const heard = [
      ...conversation.apply({ type: "part", part: text("p", "m", "", false) }, "1"),
      ...conversation.apply(
        { type: "delta", sessionId: ID, messageId: "m", partId: "p", text: "early " },
        "2",
      ),
      ...conversation.apply({ type: "message", message: message("m") }, "3"),
      ...conversation.apply({ type: "delta", sessionId: ID, messageId: "m", partId: "p", text: "word" }, "4"),
    ];
    expect(shownBy(heard).texts).toEqual(new Map([["p", "early word"]]));
  });

  test("that is joined late is shown from the next complete text", () => {
    const { steps } = play([[{ kind: "text", pieces: ["a ", "b ", "c"] }]]);
    const middle = steps.findIndex(({ event }) => event.type === "delta") + 1;
    const conversation = new Conversation(ID);
    const out = [...conversation.applySnapshot((steps[middle] as Step).after)];
    expect(shownBy(out).texts.size).toBe(0);
    for (const { event } of steps.slice(middle + 1)) out.push(...conversation.apply(event));
    expect(shownBy(out).texts).toEqual(new Map([["m0p0", "a b c"]]));
  });

  test("of another conversation is ignored; a subagent's tools are shown", () => {
    const conversation = new Conversation(ID);
    const childs = (id: string) => [
      ...conversation.apply({ type: "message", message: message(`m-${id}`, { sessionId: id }) }),
      ...conversation.apply({ type: "part", part: tool(`t-${id}`, `m-${id}`, "completed", id) }),
      ...conversation.apply({
        type: "part",
        part: { ...text(`x-${id}`, `m-${id}`, "words", true), sessionId: id },
      }),
      ...conversation.apply({
        type: "asked",
        ask: { id: `per_${id}`, sessionId: id, kind: "permission", permission: "bash", patterns: [] },
      }),
      ...conversation.apply({ type: "status", sessionId: id, status: { type: "busy" } }),
    ];
    expect(childs("ses_foreign")).toEqual([]);
    conversation.apply({ type: "session", id: "ses_child", parentId: ID });
    conversation.apply({ type: "session", id: "ses_grandchild", parentId: "ses_child" });
    for (const id of ["ses_child", "ses_grandchild"]) {
      expect(childs(id)).toMatchObject([{ type: "tool", isSubagent: true }, { type: "asked" }]);
    }
  });
});

describe("a request", () => {
  const ask = {
    id: "per_1",
    sessionId: ID,
    kind: "permission",
    permission: "bash",
    patterns: ["ls"],
  } as const;
  const holding = (status: "idle" | "busy"): Snapshot => ({
    messages: [],
    status: { type: status },
    asks: [{ ...ask, patterns: ["ls"] }],
    sessions: [],
  });
  const asked: RuntimeEvent = { type: "asked", ask: { ...ask, patterns: ["ls"] } };

  test("is shown once, and removed when it is answered", () => {
    const conversation = new Conversation(ID);
    const types = [
      conversation.apply(asked),
      conversation.apply(asked),
      conversation.applySnapshot(holding("busy")),
      conversation.apply({ type: "answered", askId: "per_1", reply: "once" }),
      conversation.apply(asked),
      conversation.applySnapshot(holding("busy")),
    ].flatMap((each) => each.map(({ type }) => type));
    expect(types).toEqual(["asked", "status", "answered"]);
    expect(conversation.asks).toEqual([]);
  });

  test("is ignored once the run is over: an aborted run leaves it in the runtime's list", () => {
    const conversation = new Conversation(ID);
    expect(conversation.applySnapshot(holding("idle"))).toEqual([]);
    conversation.applySnapshot(holding("busy"));
    expect(conversation.asks).toHaveLength(1);
    expect(conversation.applySnapshot(holding("idle")).map(({ type }) => type)).toEqual([
      "status",
      "answered",
    ]);
  });
});

describe("a retry of the model request", () => {
  const retried = (first: string, ...pieces: string[]) => {
    const conversation = new Conversation(ID);
    const retry: RuntimeEvent = {
      type: "status",
      sessionId: ID,
      status: { type: "retry", attempt: 1, message: "reset", at: null },
    };
    const delta = (partId: string, words: string): RuntimeEvent => ({
      type: "delta",
      sessionId: ID,
      messageId: "m",
      partId,
      text: words,
    });
    const events: RuntimeEvent[] = [
      { type: "message", message: message("m") },
      { type: "part", part: text("a", "m", "", false) },
      delta("a", first),
      retry,
      { type: "part", part: text("b", "m", "", false) },
      ...pieces.map((piece) => delta("b", piece)),
      { type: "part", part: text("b", "m", pieces.join(""), true) },
      { type: "part", part: text("a", "m", "", false) },
      { type: "message", message: message("m", { isComplete: true, finish: "stop" }) },
    ];
    return events
      .flatMap((event) => conversation.apply(event))
      .flatMap((each) => (each.type === "text" ? [`${each.begins ? "|" : ""}${each.text}`] : []))
      .join("");
  };

  test.each([
    ["continues the text if the new one begins alike", "It is ", ["It", " is ", "done."], "|It is done."],
    ["starts again if the new text differs", "It is ", ["It", " was ", "done."], "|It is |It was done."],
    ["is not shortened by a shorter text", "It is done.", ["It is"], "|It is done."],
    ["is not repeated by the same text", "It is", ["It ", "is"], "|It is"],
  ])("%s", (_, first, pieces, shown) => {
    expect(retried(first, ...pieces)).toBe(shown);
  });

  const delta = (partId: string, words: string): RuntimeEvent => ({
    type: "delta",
    sessionId: ID,
    messageId: "m",
    partId,
    text: words,
  });
  const begun = (): Conversation => {
    const conversation = new Conversation(ID);
    conversation.apply({ type: "message", message: message("m") });
    conversation.apply({ type: "part", part: text("a", "m", "", false) });
    conversation.apply(delta("a", "It is "));
    conversation.disconnect();
    return conversation;
  };
  const textsOf = (events: ConversationEvent[]) =>
    events.flatMap((each) => (each.type === "text" ? [each.text] : []));
  const snapshotOf = (...parts: Part[]): Snapshot => ({
    messages: [{ message: message("m"), parts }],
    status: { type: "busy" },
    asks: [],
    sessions: [],
  });
  const empty = text("a", "m", "", false);

  test("that a lost connection has missed does not repeat the text: it has the new one already", () => {
    const events = begun().applySnapshot(snapshotOf(empty, text("b", "m", "It is done.", true)));
    expect(textsOf(events)).toEqual(["done."]);
  });

  test("that a lost connection has missed does not repeat the text: the new one begins later", () => {
    const conversation = begun();
    expect(textsOf(conversation.applySnapshot(snapshotOf(empty)))).toEqual([]);
    const pieces = ["It", " is ", "done."].map((piece) => delta("b", piece));
    const events = [{ type: "part" as const, part: text("b", "m", "", false) }, ...pieces];
    expect(textsOf(events.flatMap((event) => conversation.apply(event)))).toEqual(["done."]);
  });

  test("a text after one that the lost connection completed is no repetition of it", () => {
    const parts = [text("a", "m", "It is so.", true), text("b", "m", "It is done.", true)];
    expect(textsOf(begun().applySnapshot(snapshotOf(...parts)))).toEqual(["so.", "It is done."]);
  });
});

describe("the outcome of a prompt", () => {
  const ended = (change: Partial<Message>, parts: Part[] = []) => {
    const conversation = new Conversation(ID);
    const messages = [
      { message: message("prompt", { role: "user", parentId: null }), parts: [] },
      { message: message("m", change), parts },
    ];
    conversation.applySnapshot({ messages, status: { type: "idle" }, asks: [], sessions: [] });
    return conversation.outcome("prompt").outcome;
  };
  const error = (name: string) => ({ name, message: "why" });

  test.each([
    ["completed", { isComplete: true, finish: "stop" }, []],
    ["completed", { isComplete: true, finish: "length" }, []],
    ["failed", { isComplete: true, error: error("APIError") }, []],
    ["failed", { isComplete: true, finish: "content-filter", error: error("ContentFilterError") }, []],
    ["aborted", { isComplete: true, error: error("MessageAbortedError") }, []],
    ["cut_off", {}, []],
    ["cut_off", { isComplete: true, finish: "tool-calls" }, [tool("t", "m", "completed")]],
    ["rejected", { isComplete: true, finish: "tool-calls" }, [tool("t", "m", "error")]],
    ["unanswered", { role: "user" }, []],
  ] as [string, Partial<Message>, Part[]][])("%s: %j", (outcome, change, parts) => {
    expect(ended(change, parts)).toBe(outcome as ReturnType<typeof ended>);
  });

  test("is reported once for an answer that was cut off", () => {
    const conversation = new Conversation(ID);
    const messages = [{ message: message("m"), parts: [] }];
    const cut = () => {
      conversation.applySnapshot({ messages, status: { type: "idle" }, asks: [], sessions: [] });
      return conversation.checkCutOff();
    };
    expect(cut()).toEqual([{ type: "cut", messageId: "m" }]);
    expect(cut()).toEqual([]);
  });
});

test("parsing never throws, whatever an event holds", () => {
  const types = fc.constantFrom(
    "session.created",
    "message.updated",
    "message.part.updated",
    "message.part.delta",
    "session.status",
    "session.idle",
    "session.error",
    "permission.asked",
    "question.asked",
    "question.replied",
    "other",
  );
  fc.assert(
    fc.property(types, fc.jsonValue(), fc.jsonValue(), (type, properties, inner) => {
      for (const value of [properties, { info: inner }, { part: inner }, { questions: inner, id: "que_1" }]) {
        readRuntimeEvent({ type, properties: value });
      }
      readRuntimeEvent(inner);
    }),
  );
});

test("a snapshot that is older than the applied events does not revert them", () => {
  const conversation = new Conversation(ID);
  const { revision } = conversation;
  const busy: Snapshot = { messages: [], status: { type: "busy" }, asks: [], sessions: [] };
  conversation.apply({ type: "status", sessionId: ID, status: { type: "busy" } });
  const ask: RuntimeEvent = {
    type: "asked",
    ask: { id: "per_1", sessionId: ID, kind: "permission", permission: "bash", patterns: [] },
  };
  conversation.apply(ask);
  expect(conversation.applySnapshot(busy, revision)).toEqual([]);
  expect(conversation.asks).toHaveLength(1);
  conversation.apply({ type: "status", sessionId: ID, status: { type: "idle" } });
  expect(conversation.applySnapshot(busy, revision)).toEqual([]);
  expect(conversation.status).toEqual({ type: "idle" });
});
