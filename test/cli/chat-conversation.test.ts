import { describe, expect, test } from "bun:test";
import type { ConversationEvent } from "../../cli/chat/chat-event.ts";
import { Conversation } from "../../cli/chat/conversation.ts";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import type { ConversationStreamEvent, Turn, TurnChange, TurnPart } from "../../src/contract/turn.ts";
import { changeTurns } from "../../src/conversation/turns.ts";
import { storedTurn } from "../helpers/cli-sessions.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const { parts: _, ...base } = storedTurn;
const turn = (state: TurnChange["state"], change: Partial<TurnChange> = {}): ConversationStreamEvent => ({
  type: "turn",
  turn: { ...base, state, ...change },
});

function part(number: number, change: Partial<TurnPart>): ConversationStreamEvent {
  const whole: TurnPart = {
    ...{
      part_id: `prt_${number}`,
      number,
      parent_id: null,
      kind: "text",
      state: "done",
      text: "",
      tool: null,
    },
    ...{ file: null, plan: null, request: null, cut: false, brief: false, at: base.started_at },
    ...change,
  };
  return { type: "part", turn_id: base.turn_id, part: whole };
}

const tool = (title: string) => ({
  ...{ name: "bash", title, input: [], output: "", error: null, files: [], patch: "" },
});
const more = (number: number, from: number, text: string): ConversationStreamEvent => ({
  ...{ type: "text", turn_id: base.turn_id, part_id: `prt_${number}`, from, text },
});

/** A run as the stream sends it. */
const RUN: ConversationStreamEvent[] = [
  turn("working"),
  part(1, { kind: "prompt", text: "Mend it" }),
  part(2, { state: "running", text: "" }),
  more(2, 0, "I'll "),
  more(2, 5, "look."),
  part(2, { text: "I'll look." }),
  part(3, { kind: "tool", state: "running", tool: tool("") }),
  part(3, { kind: "tool", state: "running", tool: tool("npm test") }),
  part(3, { kind: "tool", tool: tool("npm test") }),
  part(4, { kind: "reasoning", text: "Hm." }),
  part(5, { state: "running", text: "It " }),
  more(5, 3, "is done."),
  part(5, { text: "It is done." }),
  turn("done"),
];

const nameOf = (event: ConversationEvent): string => {
  if (event.type === "prompt") return `> ${event.text}`;
  if (event.type === "tool") return `${event.isSubagent ? "  " : ""}${event.state} ${event.tool.title}`;
  if (event.type === "over") return event.outcome;
  return event.type === "status" ? event.status : event.type;
};

/** Events as lines; a text is one line. */
function linesOf(events: readonly ConversationEvent[]): string[] {
  const lines: string[] = [];
  let isText = false;
  for (const event of events) {
    if (event.type !== "text") lines.push(nameOf(event));
    else if (isText && !event.begins) lines.push(`${lines.pop()}${event.text}`);
    else lines.push(event.text);
    isText = event.type === "text";
  }
  return lines;
}

function shown(events: readonly ConversationStreamEvent[], conversation = new Conversation()): string[] {
  return linesOf(events.flatMap((event) => conversation.apply(event, true)));
}

const SHOWN = [
  "> Mend it",
  "busy",
  "I'll look.",
  "running npm test",
  "done npm test",
  "It is done.",
  "completed",
  "idle",
];

test("a run is shown completely and once, whatever is sent again, and wherever a page comes in between", () => {
  expect(shown(RUN)).toEqual(SHOWN);
  fc.assert(
    fc.property(
      fc.array(fc.record({ at: fc.nat(RUN.length - 1), age: fc.nat(3) }), { maxLength: 4 }),
      fc.array(fc.nat(RUN.length - 1), { maxLength: 6 }),
      (pages, repeats) => {
        const conversation = new Conversation();
        const events: ConversationEvent[] = [];
        const stored: (readonly Turn[])[] = [];
        let turns: readonly Turn[] = [];
        for (const [index, event] of RUN.entries()) {
          turns = changeTurns(turns, event, false);
          stored.push(turns);
          events.push(...conversation.apply(event, true));
          if (repeats.includes(index)) events.push(...conversation.apply(event, true));
          for (const { at, age } of pages)
            if (at === index) events.push(...conversation.applyPage(stored[Math.max(0, index - age)] ?? []));
        }
        expect(linesOf(events).filter((line) => line !== "busy" && line !== "idle")).toEqual(
          SHOWN.filter((line) => line !== "busy" && line !== "idle"),
        );
        expect(conversation.isWorking).toBe(false);
      },
    ),
    { numRuns: share(100, 2_000) },
  );
});

test("the end of a turn is shown after the parts that are stored with it", () => {
  const conversation = new Conversation();
  const apply = (event: ConversationStreamEvent, isLast: boolean) =>
    linesOf(conversation.apply(event, isLast));
  expect(apply(turn("failed"), false)).toEqual([]);
  expect(apply(part(1, { kind: "prompt", text: "x" }), false)).toEqual(["> x"]);
  expect(apply(part(2, { text: "half" }), true)).toEqual(["half", "failed"]);
});

test("what a subagent did is shown, but not what it wrote, planned or was told", () => {
  const below = { parent_id: "prt_9" };
  expect(
    shown([
      turn("working"),
      part(1, { ...below, kind: "prompt", text: "look" }),
      part(2, { ...below, text: "found" }),
      part(3, { ...below, kind: "plan", plan: [{ text: "a", state: "pending" }] }),
      part(4, { ...below, kind: "tool", tool: tool("ls") }),
    ]),
  ).toEqual(["busy", "  done ls"]);
});

describe("a retry of the model request", () => {
  const failed = turn("working", { retry: { attempt: 1, message: "Overloaded", at: null } });
  const begin = [turn("working"), part(1, { state: "running", text: "It is" }), failed, failed];

  test.each([
    ["the same text", ["It", "It is done."], ["It is", "retry", " done."]],
    ["another text", ["Other", "Other words."], ["It is", "retry", "Other words."]],
  ])("is shown once, and %s after it", (_name, texts, lines) => {
    const again = texts.map((text, at) =>
      part(2, { text, state: at === texts.length - 1 ? "done" : "running" }),
    );
    const all = shown([...begin, part(1, { text: "" }), ...again]);
    expect(all.filter((line) => line !== "busy")).toEqual(lines);
    // a server that was killed does not tell the end of the first attempt
    const untold = shown([...begin, ...again]);
    expect(untold.filter((line) => line !== "busy")).toEqual(lines);
  });
});

describe("the outcome of a turn", () => {
  const request = {
    ...{ request_id: "r", permission: "bash", patterns: [], reply: null, questions: [], answered_by: null },
  };
  const prompt = part(1, { kind: "prompt", text: "x" });
  const half = part(2, { text: "half" });
  const refused = part(3, { kind: "permission", state: "failed", request });
  test.each([
    ["completed", "done", [prompt, half]],
    ["failed", "failed", [prompt, half]],
    ["aborted", "aborted", [prompt]],
    ["unanswered", "interrupted", [prompt]],
    ["cut_off", "interrupted", [prompt, half]],
    ["rejected", "interrupted", [prompt, refused]],
    ["cut_off", "interrupted", [prompt, refused, part(4, { kind: "permission", request })]],
  ] as const)("is %s if it is %s", (outcome, state, parts) => {
    const conversation = new Conversation();
    const id = crypto.randomUUID();
    shown([turn("working", { prompt_id: id }), ...parts, turn(state, { prompt_id: id })], conversation);
    expect(conversation.turnOf(id)?.outcome).toBe(outcome);
    expect(conversation.turnOf(crypto.randomUUID())).toBe(null);
  });

  test("a message of the daemon is no work, and has none", () => {
    expect(
      shown([turn("working"), part(1, { kind: "prompt", text: `${DAEMON_MARK}It restarted.` })]),
    ).toEqual([`> ${DAEMON_MARK}It restarted.`]);
  });
});
