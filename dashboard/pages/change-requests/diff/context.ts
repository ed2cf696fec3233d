import type { Hunk, PatchFile } from "./patch.ts";

/** Lines that did not change and are not in the patch: before a hunk, or after the last one. */
export interface Gap {
  /** Index of the hunk in the patch that follows; the number of hunks for the gap after the last one. */
  id: number;
  /** How many lines are not shown; null if that is not known before the file is loaded. */
  hidden: number | null;
}

/** How many lines of a gap are shown: those that follow the hunk before it, and those that precede the hunk after it. */
export interface Opened {
  below: number;
  above: number;
}

/** Lines that one press shows. */
export const STEP = 20;

/** The gaps of a file as the patch has it: one before each hunk, and one after the last. None if it has one side only. */
export function gapsOf({ status, binary, hunks }: PatchFile): Gap[] {
  if ((status !== "modified" && status !== "renamed") || binary) return hunks.map(() => NONE);
  let end = 1;
  const gaps = hunks.map((hunk, id): Gap => {
    const hidden = hunk.newStart - end;
    end = hunk.newStart + countOf(hunk, "-");
    return { id, hidden };
  });
  const last = hunks.at(-1);
  if (!last || countOf(last, "-") === 0 || countOf(last, "+") === 0) return hunks.map(() => NONE);
  return [...gaps, { id: hunks.length, hidden: endsFile(last) ? 0 : null }];
}

/** Whether it has fewer lines of context at its end than git shows, so the file has no more. */
function endsFile({ lines }: Hunk): boolean {
  return !lines.slice(-CONTEXT).every((line) => line[0] === " ");
}

/** Lines that git shows around a change. */
const CONTEXT = 3;

const NONE: Gap = { id: 0, hidden: 0 };

/**
 * The hunks of a file with more of the lines around them. Hunks between which nothing is hidden become one.
 * @param lines of the file after the change
 * @param opened by the id of a gap
 */
export function widen(
  file: PatchFile,
  lines: readonly string[],
  opened: ReadonlyMap<number, Opened>,
): { hunks: Hunk[]; gaps: Gap[] } {
  const hunks: Hunk[] = [];
  const gaps: Gap[] = [];
  const context = (from: number, count: number) => lines.slice(from, from + count).map((line) => ` ${line}`);
  let end = 1;
  for (const { id, hidden } of gapsOf(file)) {
    const next = file.hunks[id];
    const size = Math.max(0, hidden ?? lines.length + 1 - end);
    const wanted = opened.get(id) ?? { below: 0, above: 0 };
    const before = hunks.at(-1);
    const below = before ? Math.min(wanted.below, size) : 0;
    const above = next ? Math.min(wanted.above, size - below) : 0;
    before?.lines.push(...context(end - 1, below));
    const left = size - below - above;
    if (next) {
      const start = next.newStart - above;
      const more = context(start - 1, above);
      if (before && left === 0) before.lines.push(...more, ...next.lines);
      else {
        hunks.push({
          ...next,
          oldStart: next.oldStart - above,
          newStart: start,
          lines: [...more, ...next.lines],
        });
        gaps.push({ id, hidden: left });
      }
      end = next.newStart + countOf(next, "-");
    } else gaps.push({ id, hidden: left });
  }
  return { hunks: hunks.map(withHeader), gaps };
}

function withHeader(hunk: Hunk): Hunk {
  const { oldStart, newStart, section } = hunk;
  const range = `@@ -${oldStart},${countOf(hunk, "+")} +${newStart},${countOf(hunk, "-")} @@`;
  return { ...hunk, header: section === "" ? range : `${range} ${section}` };
}

/** The lines of one side of a hunk. @param other the sign of those that only the other side has */
function countOf({ lines }: Hunk, other: "+" | "-"): number {
  return lines.filter((line) => line[0] !== other && line[0] !== "\\").length;
}
