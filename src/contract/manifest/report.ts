import { BOM, type Position, positionsOf } from "./positions.ts";
import { isError, nameOf, PROBLEMS_MAX, type Problem } from "./shape.ts";

/** A problem in a manifest. `path` is the dotted key, with the names of the file. */
export interface ManifestError {
  path: string;
  message: string;
  /** From 1. A missing key is reported at the table that lacks it. */
  line: number;
  /** From 1, in UTF-16 code units. */
  column: number;
  severity: "error" | "warning";
}

/**
 * Adds positions to problems, sorts errors first and in the order of the file, and limits their number. At least one error
 * of each key that has errors is kept, so that no invalid key seems valid.
 */
export function reportProblems(text: string, problems: readonly Problem[]): ManifestError[] {
  if (problems.length === 0) return [];
  const root = positionsOf(text);
  const sorted = problems
    .map((problem) => ({ problem, offset: offsetOf(root, problem) }))
    .sort((a, b) => Number(isError(b.problem)) - Number(isError(a.problem)) || a.offset - b.offset);
  return bounded(sorted).map(({ problem: { path, message, severity }, offset }) => {
    return { path: nameOf(path), message, ...lineAndColumn(text, offset), severity };
  });
}

/** Errors are at known keys, which are fewer than the limit. */
function bounded<One extends { problem: Problem }>(sorted: readonly One[]): One[] {
  const firsts = new Map<string, One>();
  for (const one of sorted) {
    const key = one.problem.path.slice(0, 2).filter(isKey).join(".");
    if (isError(one.problem) && !firsts.has(key)) firsts.set(key, one);
  }
  const needed = new Set(firsts.values());
  const others = new Set(sorted.filter((one) => !needed.has(one)).slice(0, PROBLEMS_MAX - needed.size));
  return sorted.filter((one) => needed.has(one) || others.has(one));
}

const isKey = (part: string | number): part is string => typeof part === "string";

/** The offset of the nearest enclosing position that is in the file. */
function offsetOf(root: Position, { path, at }: Problem): number {
  let position = root;
  for (const part of at === "parent" ? path.slice(0, -1) : path) {
    const next = typeof part === "number" ? position.items[part] : position.entries.get(part);
    if (!next) return position.at;
    position = next;
  }
  return at === "value" ? (position.value?.start ?? position.at) : position.at;
}

/** A byte order mark does not count as a column. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(0, start).split("\n").length;
  const shift = start === 0 && text.startsWith(BOM) ? BOM.length : 0;
  return { line, column: Math.max(1, offset - start + 1 - shift) };
}
