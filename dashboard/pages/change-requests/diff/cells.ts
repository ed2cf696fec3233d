import type { Hunk } from "./patch.ts";

/** One line of one side of a file. */
export interface Cell {
  hunk: Hunk;
  /** Index in the lines of the hunk. */
  at: number;
  sign: " " | "+" | "-";
  /** Line numbers, starting at 1; null on the side that does not have the line. */
  old: number | null;
  new: number | null;
  /** Index of the removed line that it replaces, or of the added line that replaces it. */
  mate: number | null;
  /** Git's remark that no line feed ends the line. */
  remark: string | null;
}

/** The lines of a hunk with their numbers, in the order of the patch. Removed and added lines are matched by their order. */
export function cellsOf(hunk: Hunk): Cell[] {
  const cells: Cell[] = [];
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  let [removed, added]: [Cell[], Cell[]] = [[], []];
  const match = () => {
    for (const [i, cell] of added.entries()) {
      const mate = removed[i];
      if (!mate) break;
      cell.mate = mate.at;
      mate.mate = cell.at;
    }
    [removed, added] = [[], []];
  };
  for (const [at, line] of hunk.lines.entries()) {
    const sign = line[0];
    if (sign === "\\") {
      const last = cells.at(-1);
      if (last) last.remark = line.slice(1).trim();
      continue;
    }
    if (sign === "+") {
      const cell = make(at, "+", null, newLine++);
      added.push(cell);
    } else if (sign === "-") {
      if (added.length > 0) match();
      removed.push(make(at, "-", oldLine++, null));
    } else {
      match();
      make(at, " ", oldLine++, newLine++);
    }
  }
  match();
  return cells;

  function make(at: number, sign: Cell["sign"], before: number | null, now: number | null): Cell {
    const cell: Cell = { hunk, at, sign, old: before, new: now, mate: null, remark: null };
    cells.push(cell);
    return cell;
  }
}

/** The same for the split layout: context lines are on both sides, matched lines next to each other. */
export function pairsOf(cells: readonly Cell[]): [Cell | null, Cell | null][] {
  const pairs: [Cell | null, Cell | null][] = [];
  const added = new Map(cells.filter(({ sign }) => sign === "+").map((cell) => [cell.at, cell]));
  for (const cell of cells) {
    if (cell.sign === " ") pairs.push([cell, cell]);
    else if (cell.sign === "-")
      pairs.push([cell, cell.mate === null ? null : (added.get(cell.mate) ?? null)]);
    else if (cell.mate === null) pairs.push([null, cell]);
  }
  return pairs;
}

/** The text of the line, without its sign. */
export function textOf({ hunk, at }: Pick<Cell, "hunk" | "at">): string {
  return hunk.lines[at]?.slice(1) ?? "";
}
