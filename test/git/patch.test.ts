import { describe, expect, test } from "bun:test";
import { DIFF_MAX_BYTES, PATH_MAX_BYTES } from "../../src/contract/limits.ts";
import { PatchReader } from "../../src/git/diff/patch.ts";
import { blockHeader } from "../../src/git/diff/patch-header.ts";
import type { DiffEntry } from "../../src/git/git.ts";

interface Options {
  /** git's letters; M for those that are not given. */
  kinds?: string;
  /** Bytes that come at once. */
  piece?: number;
  gaps?: boolean;
  /** How many pieces the reader wants. */
  wanted?: number;
}

interface Read {
  /** `<path> +<additions> -<deletions>`, or `<path> binary`. */
  counts: string[];
  /** What was handed on: path and text. */
  pieces: [path: string, text: string][];
}

/** Reads a patch (latin1) of these paths. */
async function read(paths: readonly string[], patch: string, options: Options = {}): Promise<Read> {
  const { kinds = "", piece = Number.POSITIVE_INFINITY, gaps, wanted = Number.POSITIVE_INFINITY } = options;
  const files = paths.map((path): DiffEntry => {
    return {
      path: Buffer.from(path, "latin1"),
      status: "modified",
      additions: 0,
      deletions: 0,
      binary: false,
    };
  });
  const name = ({ path }: DiffEntry) => Buffer.from(path).toString("latin1");
  const pieces: Read["pieces"] = [];
  const onPatch = (bytes: Uint8Array, entry: DiffEntry) =>
    pieces.push([name(entry), Buffer.from(bytes).toString("latin1")]) < wanted;
  const letters = paths.map((_, index) => kinds[index] ?? "M");
  const reader = new PatchReader(files, letters, onPatch, gaps);
  const bytes = Buffer.from(patch, "latin1");
  for (let at = 0; at < bytes.length; at += piece)
    expect(await reader.take(bytes.subarray(at, at + piece))).toBe(true);
  await reader.end();
  const counts = files.map((file) =>
    file.binary
      ? `${name(file)} binary${file.additions + file.deletions}`
      : `${name(file)} +${file.additions} -${file.deletions}`,
  );
  return { counts, pieces };
}

const block = (path: string, ...lines: string[]) =>
  [`diff --git a/${path} b/${path}`, "index 1..2 100644", ...lines, ""].join("\n");
const hunks = (path: string, ...lines: string[]) => block(path, `--- a/${path}`, `+++ b/${path}`, ...lines);
const NO_NEWLINE = "\\ No newline at end of file";

/** A file of each kind, and its counts. */
const SORTS: readonly (readonly [path: string, patch: string, counts: string])[] = [
  ["one", hunks("one", "@@ -1 +1 @@", "-a", "+b"), "+1 -1"],
  ["around", hunks("around", "@@ -1,3 +1,4 @@ f()", " a", "-b", "+c", "+d", " e"), "+2 -1"],
  ["two", hunks("two", "@@ -1,2 +1 @@", " a", "-b", "@@ -9 +8,2 @@", " c", "+d"), "+1 -1"],
  ["zero", hunks("zero", "@@ -0,0 +1,2 @@", "+a", "+b"), "+2 -0"],
  ["gone", hunks("gone", "@@ -1,2 +0,0 @@", "-a", "-b"), "+0 -2"],
  ["many", hunks("many", "@@ -0,0 +1,12 @@", ...Array(12).fill("+")), "+12 -0"],
  ["ends", hunks("ends", "@@ -1 +1 @@", "-a", NO_NEWLINE, "+b", NO_NEWLINE), "+1 -1"],
  ["old end", hunks("old end", "@@ -1,2 +1,2 @@", " a", "-b", NO_NEWLINE, "+b"), "+1 -1"],
  ["same end", hunks("same end", "@@ -1,2 +1,2 @@", "-a", "+b", " c", NO_NEWLINE), "+1 -1"],
  ["mode", block("mode", "old mode 100644", "new mode 100755").replace("index 1..2 100644\n", ""), "+0 -0"],
  ["bytes", block("bytes", "GIT binary patch", "literal 2", "Jc$}", "", "literal 1", "Ic$", ""), "binary0"],
  ["differ", block("differ", "Binary files a/differ and b/differ differ"), "binary0"],
  [
    "tricky",
    hunks(
      "tricky",
      "@@ -1,5 +1,7 @@",
      "--- a/x",
      "+++ b/x",
      "-diff --git a/x b/x",
      "+diff --git a/x b/x",
      " diff --git a/x b/x",
      "-@@ -1 +1 @@",
      "+GIT binary patch",
      "+Binary files a and b differ",
      " @@ -7,7 +7,7 @@",
      "+\\ No newline at end of file",
    ),
    "+5 -3",
  ],
  ["long", hunks("long", "@@ -1 +1 @@", `-${"x".repeat(500)}`, `+${"@@ -1 +1 @@".repeat(40)}`), "+1 -1"],
  ["name/".repeat(40), hunks("name/".repeat(40), "@@ -1 +1 @@", "-a", "+b"), "+1 -1"],
  ["cr", hunks("cr", "@@ -1 +1 @@", "-a\r", "+a"), "+1 -1"],
];
const PATHS = SORTS.map(([path]) => path);
const PATCH = SORTS.map(([, patch]) => patch).join("");
const COUNTS = SORTS.map(([path, , counts]) => `${path} ${counts}`);
const PIECES = SORTS.map(([path, patch]): [string, string] => [path, patch]);

describe("each kind of file has its counts and its part", () => {
  test.each(SORTS)("%s", async (path, patch, counts) => {
    expect(await read([path], patch)).toEqual({ counts: [`${path} ${counts}`], pieces: [[path, patch]] });
  });

  test("all kinds together, with any splits of the patch", async () => {
    for (let piece = 1; piece < 400; piece++)
      expect(await read(PATHS, PATCH, { piece })).toEqual({ counts: COUNTS, pieces: PIECES });
  });

  test("all kinds together, with files omitted", async () => {
    for (const piece of [1, 7, 100, PATCH.length]) {
      for (const [left] of SORTS.entries()) {
        const some = PIECES.filter((_, index) => index !== left && index !== left + 1);
        const patch = some.map(([, text]) => text).join("");
        const seen = await read(PATHS, patch, { piece, gaps: true });
        expect(seen.pieces).toEqual(some);
        expect(seen.counts).toEqual(
          SORTS.map(([path, , counts]) =>
            some.some(([name]) => name === path) ? `${path} ${counts}` : `${path} +0 -0`,
          ),
        );
      }
    }
  });
});

test("a file whose kind changes has two parts, joined to one", async () => {
  const link = block("b", "deleted file mode 120000", "@@ -1 +0,0 @@", "-a", NO_NEWLINE);
  const file = block("b", "new file mode 100644", "@@ -0,0 +1 @@", "+text");
  const [a, c] = [hunks("a", "@@ -0,0 +1 @@", "+"), hunks("c", "@@ -1 +0,0 @@", "-")];
  for (const piece of [1, 5, 1000]) {
    expect(await read(["a", "b", "c"], a + link + file + c, { piece, kinds: "MTM" })).toEqual({
      counts: ["a +1 -0", "b +1 -1", "c +0 -1"],
      pieces: [
        ["a", a],
        ["b", link + file],
        ["c", c],
      ],
    });
  }
});

test("parses a patch without its last newline", async () => {
  for (const last of ["+b", `+${"b".repeat(300)}`, "+", "+b\nBinary files a/f and b/f differ"]) {
    for (const piece of [1, 1000]) {
      const patch = hunks("f", "@@ -1 +1 @@", "-a", last).slice(0, -1);
      const counts = last.includes("Binary") ? ["f binary0"] : ["f +1 -1"];
      expect(await read(["f"], patch, { piece })).toEqual({ counts, pieces: [["f", patch]] });
    }
  }
});

test("an empty patch has no files, or files without a part", async () => {
  expect(await read([], "")).toEqual({ counts: [], pieces: [] });
  expect(await read(["a"], "", { gaps: true })).toEqual({ counts: ["a +0 -0"], pieces: [] });
});

describe("rejects a patch that does not match its list of files", () => {
  const one = hunks("f", "@@ -1 +1 @@", "-a", "+b");
  test.each([
    ["a file without a part", ["f", "g"], one, ""],
    ["a part without a file", ["f"], one + one, ""],
    ["a part of no files", [], one, ""],
    ["a half of a change of kind", ["f"], one, "T"],
    ["a half of a change of kind, and another file", ["f", "g"], one + one, "TM"],
    ["a third half", ["f"], one + one + one, "T"],
    ["no patch", ["f"], "", ""],
    ["text before the first part", ["f"], `@@ -1 +1 @@\n-a\n+b\n${one}`, ""],
    ["only text before any part", [], "@@ -0,0 +0,0 @@\n", ""],
    ["a missing old line", ["f"], hunks("f", "@@ -1,2 +1 @@", "-a", "+b"), ""],
    ["a missing new line", ["f"], hunks("f", "@@ -1 +1,2 @@", "-a", "+b"), ""],
    ["a missing old line, and no newline", ["f"], hunks("f", "@@ -1,2 +1 @@", "-a", "+b").slice(0, -1), ""],
    ["a missing new line, and no newline", ["f"], hunks("f", "@@ -1 +1,2 @@", "-a", "+b").slice(0, -1), ""],
    ["one old line too many", ["f"], hunks("f", "@@ -1 +1,2 @@", "-a", "-b", "+c"), ""],
    ["one new line too many", ["f"], hunks("f", "@@ -1,2 +1 @@", "+a", "+b", "-c"), ""],
    ["a line of both too many on the old side", ["f"], hunks("f", "@@ -0,0 +1 @@", " a"), ""],
    ["a line of both too many on the new side", ["f"], hunks("f", "@@ -1 +0,0 @@", " a"), ""],
    ["a line without a sign", ["f"], hunks("f", "@@ -1 +1 @@", "a", "-a", "+b"), ""],
    ["an empty line", ["f"], hunks("f", "@@ -1 +1 @@", "", "-a", "+b"), ""],
  ])("%s", async (_, paths, patch, kinds) => {
    for (const piece of [1, 1000]) {
      const failed = read(paths, patch, { piece, kinds });
      await expect(failed).rejects.toMatchObject({ code: "merge_engine_failed" });
    }
  });

  test("a part of another file, if files may have none", async () => {
    for (const paths of [["g"], ["g", "h"]])
      await expect(read(paths, one, { gaps: true })).rejects.toMatchObject({ code: "merge_engine_failed" });
    const twice = read(["f", "g"], one + one, { gaps: true });
    await expect(twice).rejects.toMatchObject({ code: "merge_engine_failed" });
  });
});

test("a line that resembles a header is not a header", async () => {
  const lines = [
    "x@@ -1 +1 @@",
    "@@ -1 +1",
    "@@ -a +1 @@",
    "@@ -1, +1 @@",
    "@@ -1 +1, @@",
    " GIT binary patch",
  ];
  const patch = block(
    "f",
    ...lines,
    " Binary files a and b",
    "xdiff --git a/g b/g",
    "diff --gitx",
    "@@ - +1 @@",
    "@@ -1 + @@",
  );
  expect(await read(["f"], patch)).toEqual({ counts: ["f +0 -0"], pieces: [["f", patch]] });
  const sized = hunks("f", "@@ -10,1 +20,0 @@", "-a", "@@ -9,12 +9,12 @@", ...Array(12).fill(" "));
  expect(await read(["f"], sized)).toEqual({ counts: ["f +0 -1"], pieces: [["f", sized]] });
});

test("a reader that stops gets no more, and everything is still counted", async () => {
  for (const wanted of [1, 2, 5]) {
    for (const piece of [1, 333, PATCH.length]) {
      const seen = await read(PATHS, PATCH, { piece, wanted });
      expect(seen).toEqual({ counts: COUNTS, pieces: PIECES.slice(0, wanted) });
    }
  }
});

test("a part at the limit is one piece, a longer one several pieces of at most the limit and one chunk", async () => {
  const piece = 64 * 1024;
  const part = (bytes: number) => {
    const bare = hunks("big", "@@ -0,0 +1 @@", "+");
    return hunks("big", "@@ -0,0 +1 @@", `+${"x".repeat(bytes - bare.length)}`);
  };
  const next = hunks("next", "@@ -1 +1 @@", "-a", "+b");
  const sizes = async (bytes: number) => {
    const patch = part(bytes) + next;
    const { counts, pieces } = await read(["big", "next"], patch, { piece });
    expect(counts).toEqual(["big +1 -0", "next +1 -1"]);
    expect(pieces.map(([, text]) => text).join("") === patch).toBe(true);
    return pieces.map(([name, text]) => `${name} ${text.length}`);
  };
  expect(await sizes(DIFF_MAX_BYTES)).toEqual([`big ${DIFF_MAX_BYTES}`, `next ${next.length}`]);
  const cut = DIFF_MAX_BYTES + piece;
  expect(await sizes(DIFF_MAX_BYTES + 2 * piece)).toEqual([
    `big ${cut}`,
    `big ${piece}`,
    `next ${next.length}`,
  ]);
});

test.each([
  ["a", "a/a b/a"],
  ["a b/ü", "a/a b/ü b/a b/ü"],
  ["~ \xa0\x80\xff", "a/~ \xa0\x80\xff b/~ \xa0\x80\xff"],
  ['a"b"', String.raw`"a/a\"b\"" "b/a\"b\""`],
  ["\\", String.raw`"a/\\" "b/\\"`],
  ["\x07\b\t\n\v\f\r", String.raw`"a/\a\b\t\n\v\f\r" "b/\a\b\t\n\v\f\r"`],
  ["\x00\x06\x0e\x1f\x7f", String.raw`"a/\000\006\016\037\177" "b/\000\006\016\037\177"`],
])("quotes %j in a header like git", async (path, names) => {
  const header = `diff --git ${names}\n`;
  expect(blockHeader(Buffer.from(path, "latin1")).toString("latin1")).toBe(header);
  const patch = `${header}@@ -0,0 +1 @@\n+a\n`;
  for (const piece of [1, 1000])
    expect(await read(["x", path, "z"], patch, { gaps: true, piece })).toEqual({
      counts: ["x +0 -0", `${path} +1 -0`, "z +0 -0"],
      pieces: [[path, patch]],
    });
});

test("recognizes the longest path, with each byte quoted, in its header", async () => {
  const path = "\x01".repeat(PATH_MAX_BYTES);
  const patch = `${blockHeader(Buffer.from(path))}@@ -0,0 +1 @@\n+a\n`;
  for (const piece of [1000, 100_000])
    expect((await read(["x", path], patch, { gaps: true, piece })).pieces).toEqual([[path, patch]]);
});
