import { expect, test } from "bun:test";
import { type DiffFile, describe } from "../../../dashboard/pages/change-requests/diff/files.ts";
import { createPatchParser } from "../../../dashboard/pages/change-requests/diff/patch.ts";
import { rowsOf, type Shown } from "../../../dashboard/pages/change-requests/diff/rows.ts";
import { treeRows } from "../../../dashboard/pages/change-requests/diff/tree.ts";
import { fc } from "../../helpers/property.ts";

function fileOf(path: string, index = 0, body = ["@@ -1 +1 @@", "-a", "+b"]): DiffFile {
  const parser = createPatchParser();
  parser.take([`diff --git a/${path} b/${path}`, ...body, ""].join("\n"));
  const [file] = parser.end();
  if (!file) throw new Error("no file");
  return describe(file, index);
}

test("lists folders first, joins folders with one child, and counts files below", () => {
  const files = ["z.ts", "src/a/deep/x.ts", "src/a/deep/y.ts", "a.ts", "docs/b.md"].map((path, i) =>
    fileOf(path, i),
  );
  const draw = (closed: string[]) =>
    treeRows(files, new Set(closed)).map((row) =>
      row.kind === "folder" ? `${row.level} ${row.name}/ ${row.files}` : `${row.level} ${row.name}`,
    );
  expect(draw([])).toEqual([
    "1 docs/ 1",
    "2 b.md",
    "1 src/a/deep/ 2",
    "2 x.ts",
    "2 y.ts",
    "1 z.ts",
    "1 a.ts",
  ]);
  expect(draw(["src/a/deep"])).toEqual(["1 docs/ 1", "2 b.md", "1 src/a/deep/ 2", "1 z.ts", "1 a.ts"]);
});

test("every file has one row, with any name", () => {
  const part = fc.constantFrom("a", "b", "__proto__", "constructor", "c d");
  const paths = fc.uniqueArray(
    fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/")),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(paths, (all) => {
      const files = all.map((path, i) => fileOf(path, i));
      const rows = treeRows(files, new Set());
      const shown = rows.flatMap((row) => (row.kind === "file" ? [row.file.path] : []));
      expect(shown.sort()).toEqual([...all].sort());
      for (const { position, setSize } of rows) expect(position).toBeLessThanOrEqual(setSize);
    }),
  );
});

const ALL: Shown = { split: false, isOpen: () => true, isWanted: () => false, threads: new Map() };
const kinds = (file: DiffFile, shown: Partial<Shown> = {}) =>
  rowsOf([file], { ...ALL, ...shown }).map(({ kind }) => kind);

test("a file's rows", () => {
  const file = fileOf("a.ts");
  expect(kinds(file)).toEqual(["file", "hunk", "line", "line", "end"]);
  expect(kinds(file, { split: true })).toEqual(["file", "hunk", "pair", "end"]);
  expect(kinds(file, { isOpen: () => false })).toEqual(["file", "end"]);
  const threads = new Map([["a.ts", [{ path: "a.ts", side: "new" as const, line: 1, quotes: [null] }]]]);
  expect(kinds(file, { threads })).toEqual(["file", "hunk", "line", "line", "threads", "end"]);
  expect(kinds(file, { threads, split: true })).toEqual(["file", "hunk", "pair", "threads", "end"]);
  const moved = new Map([["a.ts", [{ path: "a.ts", side: "new" as const, line: 1, quotes: ["other"] }]]]);
  expect(kinds(file, { threads: moved })).toEqual(kinds(file));
});

test("rows keep their identity when others are inserted", () => {
  const file = fileOf("a.ts");
  const threads = new Map([["a.ts", [{ path: "a.ts", side: "old" as const, line: 1, quotes: ["a"] }]]]);
  const ids = (shown: Partial<Shown>) => rowsOf([file], { ...ALL, ...shown }).map(({ id }) => id);
  const [head, hunk, removed, added, end] = ids({});
  const between = ids({ threads });
  expect([...between.slice(0, 3), ...between.slice(4)]).toEqual([
    head,
    hunk,
    removed,
    added,
    end,
  ] as number[]);
  expect(ids({ threads })).toEqual(between);
  expect(ids({ isOpen: () => false })).toEqual([head, end] as number[]);
});

const BINARY = ["index 1..2 100644", "GIT binary patch", "literal 1"];

test("an image is shown instead of its bytes", () => {
  expect(kinds(fileOf("a.png", 0, BINARY))).toEqual(["file", "images", "end"]);
});

test.each([
  ["bun.lock", [], "generated"],
  ["web/app.min.js", [], "generated"],
  ["a.bin", BINARY, "binary"],
  ["big.ts", ["@@ -0,0 +1,2000 @@", ...Array.from({ length: 2000 }, () => "+x")], "large"],
  ["wide.ts", ["@@ -0,0 +1 @@", `+${"x".repeat(300_000)}`], "large"],
  ["lock.ts", [], null],
] as const)("collapses %s as expected", (path, body, why) => {
  const file = fileOf(path, 0, [...body]);
  expect(file.folded).toBe(why);
  expect(kinds(file).includes("folded")).toBe(why !== null);
  expect(kinds(file, { isWanted: () => true }).includes("folded")).toBe(false);
});
