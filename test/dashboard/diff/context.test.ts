import { expect, test } from "bun:test";
import { cellsOf, textOf } from "../../../dashboard/pages/change-requests/diff/cells.ts";
import { gapsOf, type Opened, widen } from "../../../dashboard/pages/change-requests/diff/context.ts";
import { createPatchParser, type PatchFile } from "../../../dashboard/pages/change-requests/diff/patch.ts";
import { createRepository, runGit, temporary } from "../../helpers/git-repo.ts";
import { fc } from "../../helpers/property.ts";

/** Line numbers, so that a line that is out of place is noticed; a word after it where it was changed. */
type Lines = readonly string[];

const edits = fc.uniqueArray(
  fc.record({
    at: fc.nat({ max: 199 }),
    what: fc.constantFrom("change" as const, "remove" as const, "insert" as const),
  }),
  { selector: ({ at }) => at, minLength: 1, maxLength: 12 },
);
const opening = fc.array(
  fc.record({ id: fc.nat({ max: 13 }), below: fc.nat({ max: 60 }), above: fc.nat({ max: 60 }) }),
  { maxLength: 8 },
);

function sidesOf(count: number, all: readonly { at: number; what: string }[]): [old: Lines, now: Lines] {
  const old = Array.from({ length: count }, (_, at) => `line ${at}`);
  const now = old.flatMap((line, at) => {
    const edit = all.find((each) => each.at === at);
    if (edit === undefined) return [line];
    if (edit.what === "remove") return [];
    return edit.what === "insert" ? [line, `after ${at}`] : [`changed ${at}`];
  });
  return [old, now];
}

async function patchOf(old: Lines, now: Lines): Promise<PatchFile | undefined> {
  await using folder = await temporary();
  const repository = await createRepository(`${folder.path}/repo`);
  const text = (lines: Lines) => lines.map((line) => `${line}\n`).join("");
  const ids = await repository.write([
    { name: "old", files: { f: text(old) } },
    { name: "now", parents: ["old"], files: { f: text(now) } },
  ]);
  const args = ["diff-tree", "-r", "--patch", "--full-index", ids["old"] ?? "", ids["now"] ?? ""];
  const parser = createPatchParser();
  parser.take((await runGit(repository.directory, args)).stdout.toString());
  return parser.end()[0];
}

test("whatever is opened, each line has its text and its numbers, and nothing is shown twice or lost", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      edits,
      fc.array(opening, { maxLength: 6 }),
      async (count, all, openings) => {
        const [old, now] = sidesOf(count, all);
        const file = await patchOf(old, now);
        if (!file) return;
        for (const opened of [[], ...openings]) {
          const wide = widen(file, now, new Map<number, Opened>(opened.map(({ id, ...rest }) => [id, rest])));
          const cells = wide.hunks.flatMap(cellsOf);
          for (const cell of cells) {
            if (cell.old !== null) expect(textOf(cell)).toBe(old[cell.old - 1] ?? "no line");
            if (cell.new !== null) expect(textOf(cell)).toBe(now[cell.new - 1] ?? "no line");
          }
          for (const side of ["old", "new"] as const) {
            const numbers = cells.map((cell) => cell[side]).filter((number) => number !== null);
            expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
          }
          const hidden = wide.gaps.reduce((sum, gap) => sum + (gap.hidden ?? 0), 0);
          expect(hidden + cells.filter((cell) => cell.new !== null).length).toBe(now.length);
          for (const hunk of wide.hunks) {
            const shown = cellsOf(hunk);
            const count = (side: "old" | "new") => shown.filter((cell) => cell[side] !== null).length;
            expect(hunk.header).toStartWith(
              `@@ -${hunk.oldStart},${count("old")} +${hunk.newStart},${count("new")} @@`,
            );
          }
        }
      },
    ),
  );
});

test("opened whole, a file is one hunk with nothing hidden", async () => {
  const [old, now] = sidesOf(150, [
    { at: 10, what: "change" },
    { at: 60, what: "remove" },
    { at: 140, what: "insert" },
  ]);
  const file = await patchOf(old, now);
  if (!file) throw new Error("no patch");
  const whole = { below: Number.MAX_SAFE_INTEGER, above: Number.MAX_SAFE_INTEGER };
  const { hunks, gaps } = widen(file, now, new Map([0, 1, 2, 3].map((id) => [id, whole])));
  expect(gaps).toEqual([
    { id: 0, hidden: 0 },
    { id: 3, hidden: 0 },
  ]);
  expect(
    hunks
      .flatMap(cellsOf)
      .filter((cell) => cell.new !== null)
      .map(textOf),
  ).toEqual([...now]);
  expect(gapsOf(file).map(({ hidden }) => hidden)).toEqual([7, 43, 74, null]);
});

test("after the last line of a file nothing is hidden", async () => {
  for (const [from, hidden] of [
    [1, 0],
    [2, 0],
    [3, 0],
    [4, null],
  ] as const) {
    const [old, now] = sidesOf(20, [{ at: 20 - from, what: "change" }]);
    const file = await patchOf(old, now);
    expect(file && gapsOf(file).at(-1)).toEqual({ id: 1, hidden });
  }
});

test("a file that has one side only has no gaps", async () => {
  const file = await patchOf(["a"], []);
  if (!file) throw new Error("no patch");
  expect(gapsOf(file)).toEqual([{ id: 0, hidden: 0 }]);
  expect(gapsOf({ ...file, status: "added" })).toEqual([{ id: 0, hidden: 0 }]);
});
