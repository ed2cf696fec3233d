import { expect, test } from "bun:test";
import { itemsOf } from "../../dashboard/pages/sessions/chat/turn.ts";
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
    model: null,
    tokens: null,
    cost: null,
    started_at: "2026-01-01T00:00:00.000Z",
    ended_at: null,
    parts,
  };
}

test("a plan and a request are items of their own; an empty plan is left out", () => {
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
      part(3, { kind: "permission", state: "running", request }),
    ]),
    undefined,
  );
  expect(items).toEqual([
    { kind: "plan", key: "prt_1", plan },
    { kind: "asked", key: "prt_3", request, state: "running" },
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
