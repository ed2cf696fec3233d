import { expect, test } from "bun:test";
import { emphasize } from "../../../dashboard/pages/change-requests/diff/emphasis.ts";
import { countHidden, hiddenIn } from "../../../dashboard/pages/change-requests/diff/hidden.ts";
import { languageOf, tokenize } from "../../../dashboard/pages/change-requests/diff/highlighter.ts";
import { piecesOf } from "../../../dashboard/pages/change-requests/diff/pieces.ts";
import { fc } from "../../helpers/property.ts";

const line = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(fc.constantFrom("if", " ", "(", "x", "\u202e", "\u200b", "👩‍💻", "é", '"'), { maxLength: 20 })
    .map((a) => a.join("")),
);

test("the pieces make up the line, with each hidden character in its own piece", () => {
  fc.assert(
    fc.property(line, line, fc.array(fc.tuple(fc.nat(50), fc.nat(50))), (text, other, cuts) => {
      const spans = cuts.map(([from, length]) => [from, from + length] as const);
      const tokens = tokenize(text.replaceAll("\n", ""), "typescript")[0] ?? [];
      const pieces = piecesOf(text, tokens, [...spans, ...emphasize(other, text).added]);
      expect(pieces.map((piece) => piece.text).join("")).toBe(text);
      expect(pieces.filter(({ hidden }) => hidden).map(({ text }) => text)).toEqual(
        hiddenIn(text).map(({ character }) => character),
      );
    }),
  );
});

test("a cut never splits a hidden character of two code units", () => {
  const pieces = piecesOf("a\u{e0041}b", [[0, 2, "keyword"]], [[2, 4]]);
  expect(pieces.map(({ text, hidden }) => [text, hidden])).toEqual([
    ["a", false],
    ["\u{e0041}", true],
    ["b", false],
  ]);
});

test("the unmarked parts of two lines are equal", () => {
  const words = fc
    .array(fc.constantFrom("a", "b", "foo", " ", "(", "1"), { maxLength: 15 })
    .map((a) => a.join(""));
  fc.assert(
    fc.property(words, words, (before, after) => {
      const { removed, added } = emphasize(before, after);
      const without = (text: string, spans: readonly (readonly [number, number])[]) =>
        [...text].filter((_, i) => !spans.some(([from, to]) => from <= i && i < to)).join("");
      if (removed.length + added.length > 0) {
        expect(without(before, removed).replaceAll(" ", "")).toBe(without(after, added).replaceAll(" ", ""));
      }
    }),
  );
});

test.each([
  ["const limit = 10;", "const limit = 20;", ["10"], ["20"]],
  ["call(a, b)", "call(a, b, c)", [], [", c"]],
  ["one two three four", "one 2 3 four", ["two three"], ["2 3"]],
  ["entirely", "different", [], []],
])("marks the change from %p to %p", (before, after, out, into) => {
  const { removed, added } = emphasize(before, after);
  expect(removed.map(([from, to]) => before.slice(from, to))).toEqual(out);
  expect(added.map(([from, to]) => after.slice(from, to))).toEqual(into);
});

test.each([
  ["plain ASCII, \ttabs", 0, 0],
  ["Ärger, 日本語, עברית, العربية", 0, 0],
  ["👩‍💻 ❤️ 1️⃣ 👍🏽", 0, 0],
  ["windows\r", 0, 0],
  ["lone \r return", 0, 1],
  ["/*\u202e } \u2066if (isAdmin)\u2069 \u2066 begin */", 4, 0],
  ["mark \u200e\u200f\u061c", 3, 0],
  ["zero\u200bwidth \u200cnon \u200djoiner", 0, 3],
  ["soft\u00adhyphen", 0, 1],
  ["filler \u3164 \u115f \uffa0 \u2800", 0, 4],
  ["tags \u{e0041}\u{e0042}", 0, 2],
  ["byte order mark \ufeff", 0, 1],
  ["escape \u001b[31m", 0, 1],
  ["lines \u2028 \u2029 \u0085", 0, 3],
  ["separate variation x\ufe00", 0, 1],
])("counts hidden characters in %p", (text, turning, unseen) => {
  expect(countHidden([text])).toEqual({ turning, unseen });
});

test("detects the language from the file name", () => {
  const known = ["a.ts", "b/c.tsx", "x.py", "Makefile", "y.rs", "style.css", "UPPER.JSON", "i.html", "w.yml"];
  expect(known.filter((path) => languageOf(path) === null)).toEqual([]);
  for (const path of ["LICENSE", "a.unknown", "ts", "dir.ts/file", ".ts.", "constructor", "a.__proto__"])
    expect([path, languageOf(path)]).toEqual([path, null]);
});
