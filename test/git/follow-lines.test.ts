import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Files } from "../helpers/git-repo.ts";
import { type Mirrored, mirrored } from "../helpers/mirrored.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const RUNS = share(10, 500);
const TEN = Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`);
const text = (lines: readonly string[]) => lines.join("");
/** The ten lines, with some of them replaced or, by "", removed. */
const edited = (change: Record<number, string>) => text(TEN.map((line, at) => change[at + 1] ?? line));

let place: Mirrored;
beforeAll(async () => {
  place = await mirrored();
});
afterAll(() => place[Symbol.asyncDispose]());

/** Follows lines of `a` in the first commit into the second; null when the file is not found. */
async function follow(before: Files, after: Files, lines: number[], path = "a") {
  const { one = "", two = "" } = await place.write([
    { name: "one", branch: "main", files: before },
    { name: "two", branch: "work", files: after },
  ]);
  const request = { from: one, to: two, path: Buffer.from(path), lines };
  const found = await place.git.followLines(place.repo, request);
  return found && { path: Buffer.from(found.path).toString(), lines: found.lines };
}

type Found = Awaited<ReturnType<typeof follow>>;

const CASES: [what: string, after: Files, lines: number[], found: Found][] = [
  ["the same file", { a: text(TEN) }, [1, 10], { path: "a", lines: [1, 10] }],
  ["lines above", { a: `x\ny\n${text(TEN)}` }, [1, 10], { path: "a", lines: [3, 12] }],
  ["lines above are gone", { a: edited({ 1: "", 2: "" }) }, [1, 3, 10], { path: "a", lines: [null, 1, 8] }],
  ["lines below", { a: `${text(TEN)}x\n` }, [1, 10], { path: "a", lines: [1, 10] }],
  ["the line is another", { a: edited({ 5: "other\n" }) }, [4, 5, 6], { path: "a", lines: [4, null, 6] }],
  ["one line became three", { a: edited({ 5: "x\ny\nz\n" }) }, [4, 5, 6], { path: "a", lines: [4, null, 8] }],
  [
    "the first and the last",
    { a: edited({ 1: "x\n", 10: "x\n" }) },
    [1, 2, 9, 10],
    { path: "a", lines: [null, 2, 9, null] },
  ],
  ["the end of the last line", { a: text(TEN).trimEnd() }, [9, 10], { path: "a", lines: [9, null] }],
  ["lines end as on Windows", { a: text(TEN).replaceAll("\n", "\r\n") }, [1], { path: "a", lines: [null] }],
  ["content that looks like a hunk", { a: `@@ -1 +9 @@\n${text(TEN)}` }, [1], { path: "a", lines: [2] }],
  ["the file is empty", { a: "" }, [1], { path: "a", lines: [null] }],
  ["the file is gone", { b: "b\n" }, [1], null],
  ["the file is a folder", { "a/b": "b\n" }, [1], null],
  ["another name", { "b/new name": text(TEN) }, [1, 10], { path: "b/new name", lines: [1, 10] }],
  ["another name, with lines above", { b: `x\n${text(TEN)}` }, [1, 4], { path: "b", lines: [null, 5] }],
  [
    "another name, and a line that stays alone",
    { b: edited({ 3: "x\n", 5: "y\n" }) },
    [2, 4, 8],
    { path: "b", lines: [null, null, 8] },
  ],
  [
    "another name, and runs of three lines",
    { b: edited({ 4: "x\n", 7: "y\n" }) },
    [1, 3, 4, 9, 10],
    { path: "b", lines: [1, 3, null, null, 10] },
  ],
];

test.each(CASES)("follows lines: %s", async (_, after, lines, found) => {
  expect(await follow({ a: text(TEN) }, after, lines)).toEqual(found);
});

test("of several files with other names, each is found under its own", async () => {
  const names = ["a", "b", "c", "d"];
  const textOf = (name: string) => TEN.map((line) => `${name} ${line}`);
  const before = Object.fromEntries(names.map((name) => [name, text(textOf(name))]));
  const after = Object.fromEntries(names.map((name) => [`new/${name}`, `${name}\n${text(textOf(name))}`]));
  for (const name of names)
    expect(await follow(before, after, [5], name)).toEqual({ path: `new/${name}`, lines: [6] });
});

test("a diff that is longer than what a pipe holds is read whole", async () => {
  const lines = Array.from({ length: 40_000 }, (_, at) => `${at} ${"x".repeat(at % 50)}\n`);
  const after = lines.map((line, at) => (at % 4 === 0 ? `new\n${at}\n` : line));
  const all = [2, 10_002, 20_002, 39_999, 40_000];
  const found = await follow({ a: text(lines) }, { a: text(after) }, all);
  expect(found?.lines).toEqual(all.map((line) => line + Math.floor((line + 3) / 4)));
});

test("attributes and names cannot change what is found", async () => {
  const attributes = { ".gitattributes": "* -diff -text binary\n" };
  const name = ":(glob)*\t\n\u{1f600}";
  const moved = `x\n${text(TEN)}`;
  const found = await follow(
    { ...attributes, [name]: text(TEN), z: moved },
    { ...attributes, [name]: moved, z: text(TEN) },
    [3],
    name,
  );
  expect(found).toEqual({ path: name, lines: [4] });
});

test("bytes that are no text are followed by their lines", async () => {
  const bytes = Uint8Array.of(0, 255, 10, 1, 10);
  const after = Uint8Array.of(9, 10, 0, 255, 10, 2, 10);
  expect(await follow({ a: bytes }, { a: after }, [1, 2])).toEqual({ path: "a", lines: [2, null] });
});

/** Lines that differ from each other → whether each stays, and how many are written before it. */
const edits = fc.array(fc.record({ stays: fc.boolean(), before: fc.nat({ max: 2 }) }), {
  minLength: 1,
  maxLength: 40,
});

test(`in ${RUNS} random edits of lines that differ, each is found where it is`, async () => {
  await fc.assert(
    fc.asyncProperty(edits, async (lines) => {
      const before = lines.map((_, at) => `${at}\n`);
      const after: string[] = [];
      const expected = lines.map(({ stays, before: added }, at) => {
        for (let n = 0; n < added; n++) after.push(`${at} ${n}\n`);
        return stays ? after.push(`${at}\n`) : null;
      });
      const all = lines.map((_, at) => at + 1);
      expect(await follow({ a: text(before) }, { a: text(after) }, all)).toEqual({
        path: "a",
        lines: expected,
      });
    }),
    { numRuns: RUNS },
  );
});
