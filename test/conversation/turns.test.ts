import { expect, test } from "bun:test";
import type { ConversationStreamEvent, Turn, TurnPart } from "../../src/contract/turn.ts";
import { changeTurns } from "../../src/conversation/turns.ts";

const part = (number: number, text: string): TurnPart => ({
  ...{ part_id: `prt_${number}`, number, parent_id: null, kind: "text", state: "running", text },
  ...{ tool: null, plan: null, request: null, file: null, cut: false, brief: false },
  at: "2026-01-01T00:00:00.000Z",
});

function turn(number: number, parts: TurnPart[] = []): Turn {
  return {
    ...{ turn_id: `msg_${number}`, session_id: "s", number, prompt_id: null, author: null, state: "working" },
    ...{ error: null, retry: null, sandbox: 1, model: null, tokens: null, cost: null },
    ...{ started_at: "2026-01-01T00:00:00.000Z", ended_at: null, parts },
  };
}

const change = (turns: readonly Turn[], ...changes: ConversationStreamEvent[]) =>
  changes.reduce((all, each) => changeTurns(all, each, true), turns);
const texts = (turns: readonly Turn[]) => turns.map(({ parts }) => parts.map(({ text }) => text).join(" "));
const put = (turnNumber: number, one: TurnPart): ConversationStreamEvent => ({
  type: "part",
  turn_id: `msg_${turnNumber}`,
  part: one,
});
const grow = (from: number, text: string): ConversationStreamEvent => ({
  ...{ type: "text", turn_id: "msg_2", part_id: "prt_5" },
  ...{ from, text },
});

const KNOWN = [turn(1, [part(2, "a"), part(3, "b")]), turn(2, [part(5, "It is")])];

test("turns and parts are added in order, and replaced; others stay the same objects", () => {
  const { parts, ...third } = turn(3);
  const after = change(KNOWN, { type: "turn", turn: third }, put(3, part(7, "d")), put(3, part(6, "c")));
  expect(texts(after)).toEqual(["a b", "It is", "c d"]);
  expect([after[0] === KNOWN[0], after[1] === KNOWN[1]]).toEqual([true, true]);
  const done = change(after, { type: "turn", turn: { ...third, state: "done" } }, put(1, part(3, "B")));
  expect(texts(done)).toEqual(["a B", "It is", "c d"]);
  expect(done[2]).toMatchObject({ state: "done" });
});

test.each([
  ["continues", [grow(5, " done")], "It is done"],
  ["is continued from an earlier place", [grow(2, " was")], "It was"],
  ["with a gap waits for the whole text", [grow(6, "lost")], "It is"],
])("a text %s", (_, changes, expected) => {
  expect(texts(change(KNOWN, ...changes))[1]).toBe(expected);
});

test("changes of turns and parts before those that are known are ignored", () => {
  const { parts, ...zeroth } = turn(0);
  const after = change(KNOWN, { type: "turn", turn: zeroth }, put(0, part(0, "x")), put(1, part(1, "y")));
  expect(texts(after)).toEqual(["a b", "It is"]);
});

test("nothing is before the first turn of a conversation that is known as a whole", () => {
  const { parts, ...zeroth } = turn(0);
  const changes = [{ type: "turn" as const, turn: zeroth }, put(0, part(0, "x")), put(1, part(1, "y"))];
  const known: readonly Turn[] = KNOWN;
  expect(texts(changes.reduce((all, each) => changeTurns(all, each, false), known))).toEqual([
    "x",
    "y a b",
    "It is",
  ]);
});
