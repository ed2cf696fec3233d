import { expect, test } from "bun:test";
import { cellsOf, pairsOf, textOf } from "../../../dashboard/pages/change-requests/diff/cells.ts";
import { createPatchParser, type PatchFile } from "../../../dashboard/pages/change-requests/diff/patch.ts";
import { BYTES, createRepository, type Files, runGit, temporary } from "../../helpers/git-repo.ts";
import { fc } from "../../helpers/property.ts";

/** What the server asks git for (`src/git/diff.ts`). */
const DIFF = ["diff-tree", "-r", "--patch", "--binary", "--full-index", "--no-renames", "--no-color"];
/** A run costs some processes of git, and looks at many files. */
const RUNS = { numRuns: 8 };
const FILES = 30;
const LIMIT_MS = 30_000;

async function diff(before: Files, after: Files, options: string[] = []): Promise<string> {
  await using folder = await temporary();
  const repository = await createRepository(`${folder.path}/repo`);
  const ids = await repository.write([
    { name: "before", files: before },
    { name: "after", parents: ["before"], files: after },
  ]);
  const args = [...options, ...DIFF, ids["before"] ?? "", ids["after"] ?? ""];
  return (await runGit(repository.directory, args)).stdout.toString();
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
const files = fc.dictionary(
  fc.tuple(name, name).map((parts) => parts.join("/")),
  text,
  { maxKeys: FILES },
);

test(
  "whatever git writes is read without loss, and cut anywhere",
  async () => {
    await fc.assert(
      fc.asyncProperty(files, files, fc.integer({ min: 1, max: 50 }), async (before, after, piece) => {
        const patch = await diff(before, after);
        const read = parse(patch, piece);
        expect(print(read)).toBe(patch);
        const changed = new Set(
          [...Object.keys(before), ...Object.keys(after)].filter((path) => before[path] !== after[path]),
        );
        expect(new Set(read.map(({ path }) => path))).toEqual(changed);
      }),
      RUNS,
    );
  },
  LIMIT_MS,
);

test(
  "old and new lines stand with their numbers, in both layouts",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: FILES }), async (all) => {
        const side = (which: 0 | 1): Record<string, string> =>
          Object.fromEntries(all.map((texts, i) => [`f${i}`, texts[which]]));
        const [before, after] = [side(0), side(1)];
        const read = parse(await diff(before, after));
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
  },
  LIMIT_MS,
);

test.each([true, false])("names come out as they are (core.quotePath %p)", async (quotes) => {
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
  const patch = await diff({}, Object.fromEntries(names.map((each) => [each, "x\n"])), [
    "-c",
    `core.quotePath=${quotes}`,
  ]);
  expect(new Set(parse(patch).map(({ path }) => path))).toEqual(new Set(names));
});

test("what is no text change is told", async () => {
  const before = { mode: "x\n", gone: "x\n", link: "x\n", empty: "", binary: new Uint8Array([0, 1, 2]) };
  const after = {
    mode: { executable: "x\n" },
    link: { link: "mode" },
    new: "",
    binary: new Uint8Array([0, 3, 4]),
    [`${BYTES}caf\xe9`]: "x",
    module: { submodule: "1".repeat(40) },
  };
  const read = parse(await diff(before, after));
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
