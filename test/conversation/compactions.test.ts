import { expect, test } from "bun:test";
import { RuntimeTurns } from "../../src/conversation/runtime-turns.ts";
import { CONVERSATION } from "../helpers/runtime-host.ts";

// the order of the events, and their fields, are those of opencode 1.18.33

type Event = { type: string; properties: object };
type Json = Record<string, unknown>;

const of = { sessionID: CONVERSATION };
const message = (info: Json): Event => ({
  type: "message.updated",
  properties: { ...of, info: { ...of, time: { created: 1 }, ...info } },
});
const part = (messageID: string, fields: Json): Event => ({
  type: "message.part.updated",
  properties: { ...of, part: { ...of, messageID, ...fields } },
});
const user = (id: string, fields: Json): Event[] => [
  message({ id, role: "user" }),
  part(id, { id: `${id}p`, ...fields }),
];
const whole = { time: { created: 1, completed: 2 } };
const answer = (id: string, parentID: string, text: string, more: Json = {}): Event[] => [
  message({ id, parentID, role: "assistant", ...more }),
  part(id, { id: `${id}t`, type: "text", text, time: { start: 1, end: 2 } }),
  message({ id, parentID, role: "assistant", finish: "stop", ...whole, ...more }),
  message({ id, parentID, role: "assistant", finish: "stop", ...whole, ...more }),
];
const status = (type: string): Event => ({ type: "session.status", properties: { ...of, status: { type } } });

const prompt = user("m1", { type: "text", text: "Work" });
const work = answer("m2", "m1", "I begin.", { finish: "tool-calls" });
const compaction = (auto: boolean) => user("m3", { type: "compaction", auto });
const summary = answer("m4", "m3", "What was said.", { summary: true });
/** A message that the runtime updates later. */
const updated = message({ id: "m1", role: "user", summary: { diffs: [] } });

/** What is stored after these events: all of it, and then the part that a snapshot repeats. */
function follow(...events: Event[]) {
  const turns = new RuntimeTurns(CONVERSATION);
  const states = new Map<string, string>();
  const parts = new Map<string, string>();
  const take = () => {
    const changes = turns.takeChanges();
    for (const { turnId, state } of changes.turns) states.set(turnId, state);
    for (const { turnId, kind, text, partId } of changes.parts)
      parts.set(partId, `${turnId} ${kind} ${text}`);
  };
  for (const event of events) {
    turns.applyEvent(event);
    take();
  }
  return { states: Object.fromEntries(states), parts: [...parts.values()] };
}

test.each<[string, Json]>([
  ["a message of its own", { type: "text", text: "Continue.", synthetic: true }],
  ["the prompt again", { type: "text", text: "Work" }],
])("a turn goes on after a compaction, with %s", (_, next) => {
  const before = [...prompt, status("busy"), ...work, ...compaction(true), ...summary.slice(0, 2), updated];
  expect(follow(...before).states).toEqual({ m1: "working" });
  expect(follow(...before, ...summary.slice(2)).states).toEqual({ m1: "working" });
  const goesOn = [...user("m5", next), ...answer("m6", "m5", "I end.")];
  const all = [...before, ...summary.slice(2), updated, ...goesOn, status("idle")];
  const parts = ["m1 prompt Work", "m1 text I begin.", "m1 reasoning What was said.", "m1 text I end."];
  expect(follow(...all)).toEqual({ states: { m1: "done" }, parts });
  // a prompt after it, also once its events have come again
  const later = [...user("m7", { type: "text", text: "More" }), ...answer("m8", "m7", "Done.")];
  expect(follow(...all, ...all, ...later)).toEqual({
    states: { m1: "done", m7: "done" },
    parts: [...parts, "m7 prompt More", "m7 text Done."],
  });
});

test("a compaction that a person asked for, and one that fails, are followed by the next prompt", () => {
  const later = [...user("m7", { type: "text", text: "More" }), ...answer("m8", "m7", "Done.")];
  const asked = [...prompt, ...answer("m2", "m1", "I end."), ...compaction(false), ...summary];
  expect(follow(...asked, status("idle"), ...later)).toEqual({
    states: { m1: "done", m7: "done" },
    parts: [
      ...["m1 prompt Work", "m1 text I end.", "m1 reasoning What was said."],
      ...["m7 prompt More", "m7 text Done."],
    ],
  });
  const error = { name: "APIError", data: { message: "It is full." } };
  const failed = answer("m4", "m3", "", { summary: true, error });
  expect(follow(...prompt, ...work, ...compaction(true), ...failed, status("idle"), ...later).states).toEqual(
    {
      m1: "failed",
      m7: "done",
    },
  );
});

test("a prompt that waits behind the turn that is compacted is another turn", () => {
  const waits = user("m2b", { type: "text", text: "More" });
  const waitsToo = user("m4b", { type: "text", text: "And more" });
  const summarized = [...summary.slice(0, 2), ...waitsToo, ...summary.slice(2)];
  const events = [...prompt, ...work, ...waits, ...compaction(true), ...summarized];
  const goesOn = [
    ...user("m5", { type: "text", text: "", synthetic: true }),
    ...answer("m6", "m5", "I end."),
  ];
  expect(follow(...events, ...goesOn).parts).toEqual([
    ...["m1 prompt Work", "m1 text I begin.", "m2b prompt More"],
    ...["m1 reasoning What was said.", "m4b prompt And more", "m1 text I end."],
  ]);
});

test("a conversation that is known from a compaction on has a turn for it", () => {
  expect(follow(...compaction(true), ...summary).states).toEqual({ m3: "working" });
});
