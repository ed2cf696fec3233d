import type { Hunk } from "./patch.ts";

/** One line of one side of a file. */
export interface Cell {
  hunk: Hunk;
  /** Its place in the hunk's lines. */
  at: number;
  sign: " " | "+" | "-";
  /** Line numbers, from 1: null on the side that does not have the line. */
  old: number | null;
  new: number | null;
  /** Where in the hunk is the line that it takes the place of, or that takes its. */
  mate: number | null;
  /** Git's remark on it: that no line feed ends it. */
  remark: string | null;
}

/** The lines of a hunk with their numbers, as they stand in the patch. A removed line and an added one are mates by their order. */
export function cellsOf(hunk: Hunk): Cell[] {
  const cells: Cell[] = [];
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  let [removed, added]: [Cell[], Cell[]] = [[], []];
  const meet = () => {
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
      if (added.length > 0) meet();
      removed.push(make(at, "-", oldLine++, null));
    } else {
      meet();
      make(at, " ", oldLine++, newLine++);
    }
  }
  meet();
  return cells;

  function make(at: number, sign: Cell["sign"], before: number | null, now: number | null): Cell {
    const cell: Cell = { hunk, at, sign, old: before, new: now, mate: null, remark: null };
    cells.push(cell);
    return cell;
  }
}

/** The same side by side: what stays stands on both sides, mates stand beside each other. */
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

/** What the line says, without its sign. */
export function textOf({ hunk, at }: Pick<Cell, "hunk" | "at">): string {
  return hunk.lines[at]?.slice(1) ?? "";
}
