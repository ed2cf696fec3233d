import { expect, test } from "bun:test";
import type { ChangeRequestTurn } from "../../src/contract/change-request-turns.ts";
import { writerOf } from "../../src/conversation/written.ts";

const turn = (number: number, path: string, ...lines: string[]): ChangeRequestTurn => ({
  ...{ turn_id: `t${number}`, number, author: null, state: "done", started_at: "2026-01-01T00:00:00.000Z" },
  ...{ prompt: "", edits: [{ path, lines }], cut: false },
});

test.each<[string, ChangeRequestTurn[], string[], number | null]>([
  ["the turn that wrote the line", [turn(1, "a", "one"), turn(2, "a", "two")], ["one"], 1],
  ["however it is indented", [turn(1, "a", "one")], ["\t one "], 1],
  ["the one that wrote most of it", [turn(1, "a", "one", "two"), turn(2, "a", "two")], ["one", "two"], 1],
  ["the newest of several", [turn(1, "a", "one"), turn(2, "a", "one")], ["one"], 2],
  ["the newest, in any order", [turn(2, "a", "one"), turn(1, "a", "one")], ["one"], 2],
  ["none if another file has the line", [turn(1, "b", "one"), turn(2, "ba", "one")], ["one"], null],
  ["that of an absolute path", [turn(1, "/workspace/a", "one")], ["one"], 1],
  ["none for other lines", [turn(1, "a", "one")], ["two"], null],
  ["none for a lone bracket", [turn(1, "a", "}")], ["}"], null],
  ["none without turns", [], ["one"], null],
])("a hunk links to %s", (_, turns, added, number) => {
  expect(writerOf(turns, "a", added)?.number ?? null).toBe(number);
});
