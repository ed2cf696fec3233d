import { type Cell, cellsOf, pairsOf, textOf } from "./cells.ts";
import type { Gap } from "./context.ts";
import type { DiffFile } from "./files.ts";
import { withoutCr } from "./hidden.ts";
import type { Hunk } from "./patch.ts";

/** The position of a comment: a line of a file by its side and number. */
export interface Place {
  path: string;
  side: "old" | "new";
  line: number;
}

/** Lines of one side of a file, from `start_line` to `line`, or one line: named as in the API. */
export interface Lines extends Place {
  start_line?: number;
}

/** The name of a file on one side of the diff: a renamed one has two. */
export function nameOn({ path, previousPath }: DiffFile, side: Place["side"]): string {
  return side === "old" ? previousPath : path;
}

/** The rows of the diff, from top to bottom. */
export type Row = { id: number; file: DiffFile } & (
  | { kind: "file" }
  | { kind: "folded" }
  | { kind: "images" }
  | { kind: "remark"; text: string }
  | { kind: "hunk"; hunk: Hunk; gap: Gap; isFirst: boolean }
  | { kind: "rest"; gap: Gap }
  | { kind: "line"; cell: Cell }
  | { kind: "pair"; left: Cell | null; right: Cell | null }
  | { kind: "threads"; place: Place }
  | { kind: "end" }
);
type Body = Row extends infer R ? (R extends Row ? Omit<R, "id" | "file"> : never) : never;

/** The hunk whose lines a row shows; null for rows without lines. */
export function hunkOf(row: Row): Hunk | null {
  if (row.kind === "line") return row.cell.hunk;
  return row.kind === "pair" ? ((row.left ?? row.right)?.hunk ?? null) : null;
}

/** A line with threads or with a comment that is being written. */
export interface ThreadsAt extends Place {
  /** The text of the line when a thread began; null for any text. Threads of a line that has changed are not shown. */
  quotes: readonly (string | null)[];
}

/** The line that a row has on a side; null if it has none. */
export function placeIn(row: Row | undefined, side: Place["side"]): Place | null {
  const cell =
    row?.kind === "line" ? row.cell : row?.kind === "pair" ? (side === "old" ? row.left : row.right) : null;
  const line = cell?.[side] ?? null;
  return row && line !== null ? { path: nameOn(row.file, side), side, line } : null;
}

/** Whether a row has one of the lines on a side. */
export function isIn(row: Row, side: Place["side"], all: readonly Lines[]): boolean {
  const place = placeIn(row, side);
  return all.some(
    ({ path, side: on, line, start_line: start = line }) =>
      place?.path === path && on === side && start <= place.line && place.line <= line,
  );
}

export interface Shown {
  /** Old and new side by side, where a file has both. */
  split: boolean;
  isOpen(file: DiffFile): boolean;
  /** Whether the reader expanded a file that is collapsed by default. */
  isWanted(file: DiffFile): boolean;
  /** By path. */
  threads: ReadonlyMap<string, readonly ThreadsAt[]>;
}

/** The rows of all files. Rows are cached, so that they keep their identity when others are added or removed. */
export function rowsOf(files: readonly DiffFile[], shown: Shown): Row[] {
  return files.flatMap((file) => rowsOfFile(file, shown));
}

function rowsOfFile(file: DiffFile, { split, isOpen, isWanted, threads }: Shown): Row[] {
  const [head, end] = [cached(file, "head", headOf), cached(file, "end", endOf)].flat();
  if (!head || !end) return [];
  if (!isOpen(file)) return [head, end];
  const isFolded = file.folded !== null && !isWanted(file);
  const isSplit = split && (file.status === "modified" || file.status === "renamed");
  const body = isFolded
    ? cached(file, "folded", (of) => [
        ...remarksOn(of),
        ...imagesOf(of),
        ...(of.binary && of.image !== null ? [] : [{ kind: "folded" } as const]),
      ])
    : cached(file, isSplit ? "split" : "unified", (of) => linesOf(of, isSplit));
  const here = isFolded ? [] : threadsOf(file, threads);
  const rows = here.length === 0 ? body : body.flatMap((row) => [row, ...threadsBelow(row, here)]);
  return [head, ...rows, end];
}

function threadsOf(file: DiffFile, threads: Shown["threads"]): ThreadsAt[] {
  const on = (side: Place["side"]) =>
    (threads.get(nameOn(file, side)) ?? []).filter((each) => each.side === side);
  return [...on("old"), ...on("new")];
}

/** Row ids are unique: measured heights and the focus belong to an id. */
let lastId = 0;
const cache = new WeakMap<DiffFile, Map<string, Row[]>>();

function cached(file: DiffFile, name: string, make: (file: DiffFile) => Body[]): Row[] {
  const known = cache.get(file) ?? new Map<string, Row[]>();
  cache.set(file, known);
  const rows = known.get(name) ?? make(file).map((row): Row => ({ ...row, id: ++lastId, file }));
  known.set(name, rows);
  return rows;
}

const headOf = (): Body[] => [{ kind: "file" }];
const endOf = (): Body[] => [{ kind: "end" }];

function linesOf(file: DiffFile, split: boolean): Body[] {
  const lines = file.hunks.flatMap((hunk, at): Body[] => {
    const gap = file.gaps[at] ?? NO_GAP;
    const cells = cellsOf(hunk);
    const rows: Body[] = split
      ? pairsOf(cells).map(([left, right]) => ({ kind: "pair", left, right }))
      : cells.map((cell) => ({ kind: "line", cell }));
    return [{ kind: "hunk", hunk, gap, isFirst: at === 0 }, ...rows];
  });
  const rest = file.gaps[file.hunks.length];
  const after: Body[] = rest && rest.hidden !== 0 ? [{ kind: "rest", gap: rest }] : [];
  return [...remarksOn(file), ...imagesOf(file), ...lines, ...after];
}

/** An image before and after the change, if its content changed. */
function imagesOf({ image, oldId, newId }: DiffFile): Body[] {
  return image === null || oldId === newId ? [] : [{ kind: "images" }];
}

const NO_GAP: Gap = { id: 0, hidden: 0 };

function threadsBelow(row: Row, threads: readonly ThreadsAt[]): Row[] {
  if (row.kind !== "line" && row.kind !== "pair") return [];
  const [left, right] = row.kind === "line" ? [row.cell, row.cell] : [row.left, row.right];
  return threads
    .filter(({ side, line, quotes }) => {
      const cell = side === "old" ? left : right;
      return cell !== null && cell[side] === line && quotes.some((quote) => isUnchanged(cell, quote));
    })
    .flatMap(({ path, side, line }) => {
      const place: Place = { path, side, line };
      return cached(row.file, `threads ${side} ${line}`, () => [{ kind: "threads", place }]);
    });
}

/** A quote may be truncated. */
function isUnchanged(cell: Cell, quote: string | null): boolean {
  return quote === null || quote === "" || withoutCr(textOf(cell)).startsWith(withoutCr(quote));
}

/** Remarks on a file besides its lines: its mode, and if it is empty. */
function remarksOn({ oldMode, newMode, status, hunks, binary, lines }: DiffFile): Body[] {
  const remarks: string[] = [];
  const hasBoth = status === "modified" || status === "renamed";
  if (hasBoth && oldMode !== newMode && oldMode && newMode) {
    remarks.push(`Mode changed: ${modeName(oldMode)} → ${modeName(newMode)}`);
  } else if (newMode ?? oldMode) {
    const mode = newMode ?? oldMode ?? "";
    if (mode !== "100644") remarks.push(`${modeName(mode).replace(/^./, (first) => first.toUpperCase())}`);
  }
  if (hunks.length === 0 && !binary && lines === 0 && !hasBoth) remarks.push("The file is empty.");
  if (hunks.length === 0 && !binary && status === "renamed") remarks.push("Renamed without other changes.");
  if (hunks.length === 0 && !binary && status === "modified" && oldMode === newMode) {
    remarks.push("Only whitespace changed.");
  }
  return remarks.map((text) => ({ kind: "remark", text }));
}

const MODES: Readonly<Record<string, string>> = {
  "100644": "plain file (100644)",
  "100755": "executable file (100755)",
  "120000": "symbolic link (120000)",
  "160000": "submodule (160000)",
};

function modeName(mode: string): string {
  return MODES[mode] ?? mode;
}
