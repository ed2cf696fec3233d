import { type Cell, cellsOf, pairsOf, textOf } from "./cells.ts";
import type { DiffFile } from "./files.ts";
import { withoutCr } from "./hidden.ts";
import type { Hunk } from "./patch.ts";

/** A line of a file by its side and number: what a comment stands at. */
export interface Place {
  path: string;
  side: "old" | "new";
  line: number;
}

/** What the diff is drawn from, from top to bottom. */
export type Row = { id: number; file: DiffFile } & (
  | { kind: "file" }
  | { kind: "folded" }
  | { kind: "remark"; text: string }
  | { kind: "hunk"; hunk: Hunk }
  | { kind: "line"; cell: Cell }
  | { kind: "pair"; left: Cell | null; right: Cell | null }
  | { kind: "talk"; place: Place }
  | { kind: "end" }
);
type Body = Row extends infer R ? (R extends Row ? Omit<R, "id" | "file"> : never) : never;

/** A line below which something stands. */
export interface Talk extends Place {
  /** What the line said; null: whatever it says. Below a line that says something else by now nothing stands. */
  quotes: readonly (string | null)[];
}

export interface Shown {
  /** Old and new side by side, where a file has both. */
  split: boolean;
  isOpen(file: DiffFile): boolean;
  /** Shows a file that is large, generated or binary although it is. */
  isWanted(file: DiffFile): boolean;
  /** By path. */
  talks: ReadonlyMap<string, readonly Talk[]>;
}

/** The rows of all files. What is still drawn of a file keeps its rows, whatever comes between or goes. */
export function rowsOf(files: readonly DiffFile[], shown: Shown): Row[] {
  return files.flatMap((file) => rowsOfFile(file, shown));
}

function rowsOfFile(file: DiffFile, { split, isOpen, isWanted, talks }: Shown): Row[] {
  const [head, end] = [kept(file, "head", headOf), kept(file, "end", endOf)].flat();
  if (!head || !end) return [];
  if (!isOpen(file)) return [head, end];
  const isFolded = file.folded !== null && !isWanted(file);
  const isSplit = split && file.status === "modified";
  const body = isFolded
    ? kept(file, "folded", (of) => [...remarksOn(of), { kind: "folded" }])
    : kept(file, isSplit ? "split" : "unified", (of) => linesOf(of, isSplit));
  const here = isFolded ? [] : (talks.get(file.path) ?? []);
  const rows = here.length === 0 ? body : body.flatMap((row) => [row, ...talkBelow(row, here)]);
  return [head, ...rows, end];
}

/** A row's id is its own, so that what was measured of it, and what has the focus in it, is not another's. */
let lastId = 0;
const made = new WeakMap<DiffFile, Map<string, Row[]>>();

function kept(file: DiffFile, name: string, make: (file: DiffFile) => Body[]): Row[] {
  const known = made.get(file) ?? new Map<string, Row[]>();
  made.set(file, known);
  const rows = known.get(name) ?? make(file).map((row): Row => ({ ...row, id: ++lastId, file }));
  known.set(name, rows);
  return rows;
}

const headOf = (): Body[] => [{ kind: "file" }];
const endOf = (): Body[] => [{ kind: "end" }];

function linesOf(file: DiffFile, split: boolean): Body[] {
  const lines = file.hunks.flatMap((hunk): Body[] => {
    const cells = cellsOf(hunk);
    const rows: Body[] = split
      ? pairsOf(cells).map(([left, right]) => ({ kind: "pair", left, right }))
      : cells.map((cell) => ({ kind: "line", cell }));
    return [{ kind: "hunk", hunk }, ...rows];
  });
  return [...remarksOn(file), ...lines];
}

function talkBelow(row: Row, talks: readonly Talk[]): Row[] {
  if (row.kind !== "line" && row.kind !== "pair") return [];
  const [left, right] = row.kind === "line" ? [row.cell, row.cell] : [row.left, row.right];
  return talks
    .filter(({ side, line, quotes }) => {
      const cell = side === "old" ? left : right;
      return cell !== null && cell[side] === line && quotes.some((quote) => saysStill(cell, quote));
    })
    .flatMap(({ path, side, line }) => {
      const place: Place = { path, side, line };
      return kept(row.file, `talk ${side} ${line}`, () => [{ kind: "talk", place }]);
    });
}

/** A quote may be cut. */
function saysStill(cell: Cell, quote: string | null): boolean {
  return quote === null || quote === "" || withoutCr(textOf(cell)).startsWith(withoutCr(quote));
}

/** What is to be said of a file besides its lines. */
function remarksOn({ oldMode, newMode, status, hunks, binary, lines }: DiffFile): Body[] {
  const said: string[] = [];
  if (status === "modified" && oldMode !== newMode && oldMode && newMode) {
    said.push(`Mode changed: ${modeName(oldMode)} → ${modeName(newMode)}`);
  } else if (newMode ?? oldMode) {
    const mode = newMode ?? oldMode ?? "";
    if (mode !== "100644") said.push(`${modeName(mode).replace(/^./, (first) => first.toUpperCase())}`);
  }
  if (hunks.length === 0 && !binary && lines === 0 && status !== "modified") said.push("The file is empty.");
  if (hunks.length === 0 && !binary && status === "modified" && oldMode === newMode) {
    said.push("Nothing but white space is different.");
  }
  return said.map((text) => ({ kind: "remark", text }));
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
