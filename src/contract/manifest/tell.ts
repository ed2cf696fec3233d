import { BOM, type Place, placesOf } from "./places.ts";
import { isError, nameOf, PROBLEMS_MAX, type Problem } from "./shape.ts";

/** One thing that is wrong with a manifest. `path` is the key's, with dots; the names in it are the file's own. */
export interface ManifestError {
  path: string;
  message: string;
  /** From 1. What is missing is told where it could be. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
  severity: "error" | "warning";
}

/**
 * Problems of a file as they are told: errors first, each kind in the file's order, a bounded number. Of each key of each
 * table at least one error is among them, so that nothing that has one looks as if it had none.
 */
export function tell(text: string, problems: readonly Problem[]): ManifestError[] {
  if (problems.length === 0) return [];
  const root = placesOf(text);
  const sorted = problems
    .map((problem) => ({ problem, offset: offsetOf(root, problem) }))
    .sort((a, b) => Number(isError(b.problem)) - Number(isError(a.problem)) || a.offset - b.offset);
  return bounded(sorted).map(({ problem: { path, message, severity }, offset }) => {
    return { path: nameOf(path), message, ...lineAndColumn(text, offset), severity };
  });
}

/** Errors stand at keys that svc knows, of which there are fewer than problems are told. */
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

/** What is not in the file itself is told at the nearest thing around it. */
function offsetOf(root: Place, { path, at }: Problem): number {
  let place = root;
  for (const part of at === "parent" ? path.slice(0, -1) : path) {
    const next = typeof part === "number" ? place.items[part] : place.entries.get(part);
    if (!next) return place.at;
    place = next;
  }
  return at === "value" ? (place.value?.start ?? place.at) : place.at;
}

/** A byte order mark is no character of the first line. */
function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(0, start).split("\n").length;
  const shift = start === 0 && text.startsWith(BOM) ? BOM.length : 0;
  return { line, column: Math.max(1, offset - start + 1 - shift) };
}
