import { expect, test } from "bun:test";
import { createItems, itemsOf } from "../../dashboard/pages/sessions/chat/turn.ts";
import type { Turn, TurnPart } from "../../src/contract/turn.ts";

const tool = { name: "bash", title: "ls", input: [], output: "", error: null, files: [], patch: "" };

function part(number: number, fields: Partial<TurnPart>): TurnPart {
  return {
    part_id: `prt_${number}`,
    number,
    kind: "text",
    state: "done",
    text: "",
    tool: null,
    plan: null,
    request: null,
    file: null,
    cut: false,
    brief: false,
    parent_id: null,
    at: "2026-01-01T00:00:00.000Z",
    ...fields,
  };
}

function turn(parts: TurnPart[]): Turn {
  return {
    turn_id: "msg_1",
    session_id: "00000000-0000-4000-8000-000000000000",
    number: 1,
    prompt_id: null,
    author: null,
    state: "done",
    error: null,
    retry: null,
    sandbox: 1,
    model: null,
    tokens: null,
    cost: null,
    started_at: "2026-01-01T00:00:00.000Z",
    ended_at: null,
    parts,
  };
}

test("a plan and an answered request are items of their own; an empty plan, and what is still asked, are left out", () => {
  const plan = [{ text: "look", state: "completed" as const }];
  const request = {
    ...{
      request_id: "per_1",
      permission: "bash",
      patterns: [],
      reply: null,
      questions: [],
      answered_by: null,
    },
  };
  const items = itemsOf(
    turn([
      part(1, { kind: "plan", plan }),
      part(2, { kind: "plan", plan: [] }),
      part(3, { kind: "permission", state: "done", request }),
      part(4, { kind: "permission", state: "running", request }),
    ]),
    undefined,
  );
  expect(items).toEqual([
    { kind: "plan", key: "prt_1", plan },
    { kind: "asked", key: "prt_3", request, state: "done" },
  ]);
});

test("parts of which nothing is kept share one note; empty texts are left out", () => {
  const shown = itemsOf(
    turn([
      part(1, { kind: "prompt", text: "Go on" }),
      part(2, { cut: true }),
      part(3, { kind: "reasoning", cut: true }),
      part(4, { kind: "tool", tool, cut: true }),
      part(5, { kind: "tool", tool, cut: true }),
      part(6, { cut: true }),
      part(7, { text: "\n" }),
    ]),
    undefined,
  );
  expect(shown.map((item) => (item.kind === "note" ? item.text : item.kind))).toEqual([
    "prompt",
    "The conversation is too long: the text here is not kept.",
    "tool",
    "The conversation is too long: the input and output of this tool are not kept.",
    "tool",
    "The conversation is too long: the input and output of this tool are not kept.",
    "The conversation is too long: the text here is not kept.",
  ]);
});

test("what a subagent did is inside the tool that started it", () => {
  const [outer] = itemsOf(
    turn([
      part(1, { kind: "tool", tool: { ...tool, name: "task" } }),
      part(2, { parent_id: "prt_1", kind: "tool", tool }),
      part(3, { parent_id: "prt_2", text: "deep" }),
      part(4, { parent_id: "prt_1", text: "found" }),
      part(5, { parent_id: "prt_0", text: "of a tool on an earlier page" }),
    ]),
    undefined,
  );
  expect(outer).toMatchObject({
    key: "prt_1",
    inner: [
      { key: "prt_2", inner: [{ kind: "answer", text: "deep" }] },
      { kind: "answer", text: "found" },
    ],
  });
});

test("items that have not changed stay the same objects while a text grows", () => {
  const toItems = createItems();
  const begin = turn([part(1, { kind: "prompt", text: "Go" }), part(2, { kind: "tool", tool })]);
  const text = part(3, { state: "running", text: "I" });
  const other = { ...begin, turn_id: "msg_0", number: 0 };
  const before = toItems([other, { ...begin, parts: [...begin.parts, text] }]);
  const after = toItems([other, { ...begin, parts: [...begin.parts, { ...text, text: "I look" }] }]);
  expect(after.map((item, at) => item === before[at])).toEqual([true, true, true, true, false]);
  expect(after.at(-1)).toMatchObject({ kind: "answer", text: "I look" });
});

test("a turn of another sandbox begins below a line", () => {
  const [first, second] = [turn([part(1, { text: "a" })]), turn([part(2, { text: "b" })])];
  const items = createItems()([first, { ...second, turn_id: "msg_2", number: 2, sandbox: 2 }]);
  expect(items.map(({ kind }) => kind)).toEqual(["answer", "sandbox", "answer"]);
});
