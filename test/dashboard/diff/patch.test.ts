import { expect, test } from "bun:test";
import { cellsOf, pairsOf, textOf } from "../../../dashboard/pages/change-requests/diff/cells.ts";
import { describe as describeFile } from "../../../dashboard/pages/change-requests/diff/files.ts";
import { createPatchParser, type PatchFile } from "../../../dashboard/pages/change-requests/diff/patch.ts";
import {
  nameOn,
  type Place,
  rowsOf,
  type ThreadsAt,
} from "../../../dashboard/pages/change-requests/diff/rows.ts";
import {
  BYTES,
  createRepository,
  type Entry,
  type Files,
  runGit,
  temporary,
} from "../../helpers/git-repo.ts";
import { fc } from "../../helpers/property.ts";

/** The server's options of git diff (`src/git/diff/diff.ts`). */
const DIFF = ["diff-tree", "-r", "--patch", "--binary", "--full-index", "--no-renames", "--no-color"];
/** A run costs some processes of git, and looks at many files. */
const RUNS = { numRuns: 8 };
const NO_NEWLINE = "\\ No newline at end of file";
const FILES = 30;

/** The patch, and of each path what git counts in it: additions and deletions, or two dashes. */
async function diff(
  before: Files,
  after: Files,
  options: string[] = [],
  how: readonly string[] = DIFF,
): Promise<[patch: string, numbers: Map<string, string>]> {
  await using folder = await temporary();
  const repository = await createRepository(`${folder.path}/repo`);
  const ids = await repository.write([
    { name: "before", files: before },
    { name: "after", parents: ["before"], files: after },
  ]);
  const run = async (...how: string[]) => {
    const args = [...options, ...how, ids["before"] ?? "", ids["after"] ?? ""];
    return (await runGit(repository.directory, args)).stdout.toString();
  };
  const rows = (await run("diff-tree", "-r", "--numstat", "-z", "--no-renames")).split("\0").slice(0, -1);
  const numbers = new Map<string, string>();
  for (const row of rows) {
    const [, count = "", at = ""] = /^([^\t]+\t[^\t]+)\t(.+)$/s.exec(row) ?? [];
    numbers.set(at, count);
  }
  return [await run(...how), numbers];
}

/** Parses a patch that comes in pieces. */
function parse(patch: string, piece = Number.POSITIVE_INFINITY): PatchFile[] {
  const parser = createPatchParser();
  for (let at = 0; at < patch.length; at += piece) parser.take(patch.slice(at, at + piece));
  return parser.end();
}

function print(files: readonly PatchFile[]): string {
  return files
    .flatMap(({ head, hunks }) => [...head, ...hunks.flatMap(({ header, lines }) => [header, ...lines])])
    .map((line) => `${line}\n`)
    .join("");
}

const line = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "b",
    "c",
    "-- x",
    "++ y",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "\\ No newline",
    "\ta\r",
  ),
  fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replace(/[\n\0]/g, "")),
);
const text = fc
  .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
  .map(([lines, ends]) => lines.join("\n") + (ends && lines.length > 0 ? "\n" : ""));
const name = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((word) => !/[\0/]/.test(word) && word.isWellFormed() && !/^\.{1,2}$|^\.git|^latin1:/i.test(word));
const path = fc.tuple(name, name).map((parts) => parts.join("/"));

/** A file before and after; undefined where it is not. */
type Sides = readonly [before: Entry | undefined, after: Entry | undefined];

/** Two texts that have most lines in common. */
const edited = fc
  .tuple(
    fc.array(fc.tuple(line, fc.constantFrom("both", "both", "both", "before", "after")), { maxLength: 60 }),
    fc.constantFrom("", "\n"),
    fc.constantFrom("", "\n"),
  )
  .map(([lines, beforeEnd, afterEnd]): [string, string] => {
    const side = (other: string) => lines.flatMap(([text, where]) => (where === other ? [] : [text]));
    const before = [...side("after"), "last"].join("\n") + beforeEnd;
    const after = [...side("before"), "last"].join("\n") + afterEnd;
    return [before, after === before ? `first\n${after}` : after];
  });
const bytes = fc.uint8Array({ maxLength: 200 }).map((rest) => Uint8Array.of(0, ...rest));

const SORTS: Readonly<Record<string, fc.Arbitrary<Sides>>> = {
  edited,
  "without a last newline": edited.map(([before, after]) => [before.trimEnd(), `${after.trimEnd()}!`]),
  "another mode": text.map((both) => [both, { executable: both }]),
  "edited, and another mode": edited.map(([before, after]) => [{ executable: before }, after]),
  "another kind": edited.map(([before]) => [before, { link: "somewhere" }]),
  "another link": fc.constant([{ link: "here" }, { link: "there" }]),
  "other bytes": fc
    .tuple(bytes, bytes)
    .map(([before, after]) => [before, Uint8Array.of(...after, 1, ...before)]),
  "bytes that become text": fc.tuple(bytes, text),
  unchanged: text.map((both) => [both, both]),
  added: fc.oneof(text, bytes).map((after) => [undefined, after]),
  "added, to be run": text.map((after) => [undefined, { executable: after }]),
  removed: fc.oneof(text, bytes).map((before) => [before, undefined]),
};

/** Files of each sort, and more of some; the first is there under another name afterwards. */
const changes = fc
  .tuple(
    fc.tuple(...Object.values(SORTS)),
    fc.array(fc.oneof(...Object.values(SORTS)), { maxLength: FILES - Object.keys(SORTS).length }),
    fc.uniqueArray(path, { minLength: FILES + 2, maxLength: FILES + 2 }),
    text,
  )
  .map(([each, more, [from = "", to = "", ...paths], moved]) => {
    const all = new Map<string, Sides>([
      [from, [moved, undefined]],
      [to, [undefined, moved]],
    ]);
    for (const [index, sides] of [...each, ...more].entries()) all.set(paths[index] ?? "", sides);
    return all;
  });

function side(all: ReadonlyMap<string, Sides>, which: 0 | 1): Files {
  const files: Files = {};
  for (const [at, { [which]: entry }] of all) if (entry !== undefined) files[at] = entry;
  return files;
}

/** The status of each part of the patch that there is to be, in git's order for one path. */
function statusesOf([before, after]: Sides): PatchFile["status"][] {
  if (before === undefined) return ["added"];
  if (after === undefined) return ["deleted"];
  const isLink = (entry: Entry) => typeof entry === "object" && "link" in entry;
  if (isLink(before) !== isLink(after)) return ["deleted", "added"];
  return before === after ? [] : ["modified"];
}

/** As git's `--numstat` has it. */
function countsOf(parts: readonly PatchFile[]): string {
  if (parts.some(({ binary }) => binary)) return "-\t-";
  const sum = (key: "additions" | "deletions") => parts.reduce((total, part) => total + part[key], 0);
  return `${sum("additions")}\t${sum("deletions")}`;
}

test("parses any patch of git without loss, split anywhere", async () => {
  await fc.assert(
    fc.asyncProperty(changes, fc.integer({ min: 1, max: 50 }), async (all, piece) => {
      const [patch, numbers] = await diff(side(all, 0), side(all, 1));
      const read = parse(patch, piece);
      // the bytes of binary files are passed over
      expect(print(read)).toBe(patch.replace(/^(GIT binary patch\n)(?:(?!diff --git ).*\n)*/gm, "$1"));
      const parts = Map.groupBy(read, (file) => file.path);
      const expected = [...all].flatMap(([at, sides]) => statusesOf(sides).map((status) => [at, status]));
      expect(read.map((file) => [file.path, file.status]).toSorted()).toEqual(expected.toSorted());
      expect(new Map([...parts].map(([at, files]) => [at, countsOf(files)]))).toEqual(numbers);
      // what the sorts are for: texts of which a part stays, and each remark of git's
      const texts = read.filter(
        ({ status, binary, hunks }) => status === "modified" && !binary && hunks.length > 0,
      );
      expect(texts.length).toBeGreaterThanOrEqual(3);
      expect(texts.some(({ oldMode, newMode }) => oldMode !== newMode)).toBe(true);
      expect(texts.some(({ hunks }) => hunks.some(({ lines }) => lines.includes(NO_NEWLINE)))).toBe(true);
    }),
    RUNS,
  );
});

test("old and new lines have their numbers, in both layouts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: FILES }), async (all) => {
      const side = (which: 0 | 1): Record<string, string> =>
        Object.fromEntries(all.map((texts, i) => [`f${i}`, texts[which]]));
      const [before, after] = [side(0), side(1)];
      const read = parse((await diff(before, after))[0]);
      for (const { path, hunks } of read) {
        const sides = { old: before[path]?.split("\n") ?? [], new: after[path]?.split("\n") ?? [] };
        for (const hunk of hunks) {
          const cells = cellsOf(hunk);
          for (const cell of cells) {
            if (cell.old !== null) expect(sides.old[cell.old - 1]).toBe(textOf(cell));
            if (cell.new !== null) expect(sides.new[cell.new - 1]).toBe(textOf(cell));
            if (cell.mate !== null) expect(cells.find(({ at }) => at === cell.mate)?.mate).toBe(cell.at);
          }
          const pairs = pairsOf(cells);
          const left = pairs.flatMap(([cell]) => (cell ? [cell] : []));
          const right = pairs.flatMap(([, cell]) => (cell ? [cell] : []));
          expect(left).toEqual(cells.filter(({ sign }) => sign !== "+"));
          expect(right).toEqual(cells.filter(({ sign }) => sign !== "-"));
        }
      }
    }),
    RUNS,
  );
});

test.each([true, false])("parses names exactly (core.quotePath %p)", async (quotes) => {
  const names = [
    "a b",
    'q"uote',
    "back\\slash",
    "tab\there",
    "new\nline",
    "ümläut",
    "日本/語",
    " b/ b",
    "x b/x",
    "\u202egnp.exe",
  ];
  const [patch] = await diff({}, Object.fromEntries(names.map((each) => [each, "x\n"])), [
    "-c",
    `core.quotePath=${quotes}`,
  ]);
  expect(new Set(parse(patch).map(({ path }) => path))).toEqual(new Set(names));
});

test("parses a file that is named like a line of a patch", async () => {
  const names = [
    "@@ -1 +1 @@",
    "@@ -1,9 +1,9 @@ x",
    "index 11..22 100755",
    "new mode 100755",
    "Binary files ",
    "GIT binary patch",
    "-- a",
    "diff --git a b",
  ];
  const all = (text: string) => Object.fromEntries(names.map((name) => [name, text]));
  const [patch] = await diff(all("a\n"), all("b\n"));
  const read = parse(patch).map(({ path, newMode, binary, hunks }) => [path, newMode, binary, hunks.length]);
  expect(read).toEqual([...names].sort().map((name) => [name, "100644", false, 1]));
});

test.each(["GIT binary patch", "Binary files a/x and b/x differ"])("finds no lines after %j", (words) => {
  const file = `diff --git a/x b/x\n${words}\n@@ -1 +1 @@\n-a\n+b\n`;
  const [first, second] = parse(file + file.replaceAll("x", "y"));
  expect(first).toMatchObject({ path: "x", binary: true, hunks: [] });
  expect(second).toMatchObject({ path: "y", binary: true, hunks: [] });
});

test("reports changes that are not text", async () => {
  const before = { mode: "x\n", gone: "x\n", link: "x\n", empty: "", binary: new Uint8Array([0, 1, 2]) };
  const after = {
    mode: { executable: "x\n" },
    link: { link: "mode" },
    new: "",
    binary: new Uint8Array([0, 3, 4]),
    [`${BYTES}caf\xe9`]: "x",
    module: { submodule: "1".repeat(40) },
  };
  const read = parse((await diff(before, after))[0]);
  const said = read.map(({ path, status, oldMode, newMode, binary, additions, deletions }) =>
    [path, status, oldMode, newMode, binary ? "binary" : `+${additions} -${deletions}`].join(" "),
  );
  expect(said.sort()).toEqual([
    "binary modified 100644 100644 binary",
    "caf\ufffd added  100644 +1 -0",
    "empty deleted 100644  +0 -0",
    "gone deleted 100644  +0 -1",
    "link added  120000 +1 -0",
    "link deleted 100644  +0 -1",
    "mode modified 100644 100755 +0 -0",
    "module added  160000 +1 -0",
    "new added  100644 +0 -0",
  ]);
});

test("each file has the ids of its contents", async () => {
  const id = (content: string) =>
    new Bun.CryptoHasher("sha1").update(`blob ${content.length}\0${content}`).digest("hex");
  const none = "0".repeat(40);
  const [patch] = await diff(
    { changed: "one\n", gone: "two\n", mode: "x" },
    { changed: "three\n", new: "four\n", mode: { executable: "x" } },
  );
  expect(parse(patch).map(({ path, oldId, newId }) => [path, oldId, newId])).toEqual([
    ["changed", id("one\n"), id("three\n")],
    ["gone", id("two\n"), none],
    ["mode", null, null],
    ["new", none, id("four\n")],
  ]);
});

/** Names that git quotes, or that look like a part of a header. */
const RENAMED = [
  ...["plain", "with space", "b/a b/a", 'quo"te', "back\\slash", "tab\t", "new\nline", "ü", " → "],
  ...["rename to x", "diff --git a/q b/q"],
];

test("a renamed file has both names, and its changes", async () => {
  const lines = (first: string) =>
    [first, ...Array.from({ length: 20 }, (_, at) => `line ${at}`), ""].join("\n");
  const [before, after]: [Files, Files] = [{}, {}];
  for (const [at, name] of RENAMED.entries()) {
    before[`old/${name}`] = `${at}\n${lines("one")}`;
    after[`new/${name}`] = `${at}\n${lines(at % 2 === 0 ? "one" : "two")}`;
  }
  const [patch] = await diff(
    before,
    after,
    [],
    [...DIFF.filter((option) => option !== "--no-renames"), "-M"],
  );
  const files = parse(patch, 7);
  expect(print(files)).toBe(patch);
  const shown = files.map(({ path, previousPath, status, additions, deletions }) => [
    ...[path, previousPath, status, additions, deletions],
  ]);
  const expected = RENAMED.map((name, at) => [`new/${name}`, `old/${name}`, "renamed", at % 2, at % 2]);
  expect(shown.sort()).toEqual(expected.sort());
  for (const file of files) expect(nameOn(describeFile(file, 0), "old")).toBe(file.previousPath);
});

test("comments on the old side of a renamed file stand at its name before, and no others", async () => {
  const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
  const [patch] = await diff(
    { "old name": `first\n${text}` },
    { "new name": `second\n${text}` },
    [],
    [...DIFF.filter((option) => option !== "--no-renames"), "-M"],
  );
  const files = parse(patch).map(describeFile);
  const at = (path: string, side: Place["side"]): ThreadsAt => ({ path, side, line: 1, quotes: [null] });
  const places = (...threads: ThreadsAt[]) =>
    [false, true].map((split) =>
      rowsOf(files, {
        split,
        isOpen: () => true,
        isWanted: () => false,
        threads: new Map(threads.map((each) => [each.path, [each]])),
      }).flatMap((row) => (row.kind === "threads" ? [`${row.place.side} ${row.place.path}`] : [])),
    );
  const both = ["old old name", "new new name"];
  expect(places(at("old name", "old"), at("new name", "new"))).toEqual([both, both]);
  expect(places(at("old name", "new"), at("new name", "old"))).toEqual([[], []]);
});
