import { SvcError } from "../../contract/errors.ts";
import type { FollowedLines, FollowRequest, TreeEntry } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { findEntry } from "../read/tree.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { query } from "../run/query.ts";
import { createChangeCounter } from "./tree-changes.ts";

/** Bytes of the largest file whose lines are followed. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;
/** In a renamed file, a shorter run of unchanged lines may have come from anywhere. */
const RENAMED_RUN_MIN = 3;
/** Longer than the header of a hunk without its heading. */
const HEADER_BYTES = 100;

/**
 * Finds where lines of a file of one commit are in another commit, by git's diff of the two files. A file that is gone is
 * looked for under another name, by git's detection of renames.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function followLines(
  engine: Engine,
  mirror: Mirror,
  { from, to, path, lines }: FollowRequest,
): Promise<FollowedLines | null> {
  const before = await findEntry(engine, mirror, from, path);
  if (!isText(before)) return null;
  const same = await findEntry(engine, mirror, to, path);
  const renamed = isText(same) ? null : await findRename(engine, mirror, { from, to, path });
  const after = renamed ? await findEntry(engine, mirror, to, renamed) : same;
  if (!isText(after)) return null;
  if (before.id === after.id) return { path: renamed ?? path, lines: [...lines] };
  const hunks = await hunksOf(engine, mirror, before.id, after.id);
  const shortest = renamed ? RENAMED_RUN_MIN : 1;
  return { path: renamed ?? path, lines: lines.map((line) => followLine(hunks, line, shortest)) };
}

function isText(entry: TreeEntry | null): entry is TreeEntry {
  return entry !== null && entry.size !== null && entry.size <= FILE_MAX_BYTES;
}

/** Lines of the file before that were replaced by lines of the file after. Without lines, `start` is that of the next. */
export interface Hunk {
  before: { start: number; count: number };
  after: { start: number; count: number };
}

/**
 * Where a line is after the hunks, which are in order.
 * @param shortest unchanged lines in a row that count as the same
 * @returns null when it was replaced or removed
 */
export function followLine(hunks: readonly Hunk[], line: number, shortest: number): number | null {
  let runStart = 1;
  let moved = 0;
  for (const { before, after } of hunks) {
    if (line < before.start) return before.start - runStart < shortest ? null : line + moved;
    runStart = before.start + before.count;
    if (line < runStart) return null;
    moved = after.start + after.count - runStart;
  }
  // the end of the last run is not known
  return line - runStart + 1 < shortest ? null : line + moved;
}

async function hunksOf(engine: Engine, mirror: Mirror, before: string, after: string): Promise<Hunk[]> {
  const hunks: Hunk[] = [];
  const takeLine = (line: string) => {
    const hunk = readHunk(line);
    if (hunk) hunks.push(hunk);
  };
  const reader = lineStarts(takeLine);
  const args = ["diff", "--unified=0", "--inter-hunk-context=0", "--text", "--no-color", "--no-ext-diff"];
  const settings = ["--no-textconv", "--diff-algorithm=default", "--indent-heuristic"];
  const result = await engine.runner.run({
    args: [...args, ...settings, "--end-of-options", before, after],
    environment: mirror.environment,
    deadlineMs: engine.limits.diffMs,
    wallMs: engine.limits.diffWallMs,
    memory: engine.limits.mergeMemory,
    onStdout: reader,
  });
  if (result.code !== 0 || result.stopped) throw engineFailure(engine, "following lines", result);
  return hunks;
}

/** Passes on the beginning of each line that is in the chunks. Lines of content begin with `+`, `-` or `\`. */
function lineStarts(take: (start: string) => void): (chunk: Uint8Array) => boolean {
  let pending = "";
  return (chunk) => {
    const [first = "", ...more] = latin1(chunk).split("\n");
    pending = (pending + first).slice(0, HEADER_BYTES);
    for (const line of more) {
      take(pending);
      pending = line.slice(0, HEADER_BYTES);
    }
    return true;
  };
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Git numbers a side without lines by the line before. */
function readHunk(line: string): Hunk | null {
  const [, ...found] = HUNK.exec(line) ?? [];
  if (found.length === 0) return null;
  const side = (start: string | undefined, lines = "1") => {
    const count = Number(lines);
    return { start: Number(start) + (count === 0 ? 1 : 0), count };
  };
  return { before: side(found[0], found[1]), after: side(found[2], found[3]) };
}

/** The new name of a file, if git finds one among as many paths as a diff may have. */
async function findRename(
  engine: Engine,
  mirror: Mirror,
  { from, to, path }: Omit<FollowRequest, "lines">,
): Promise<Uint8Array | null> {
  try {
    await createChangeCounter(mirror.objects, engine.limits, engine.limits.diffPaths)(from, to);
  } catch (error) {
    if (error instanceof SvcError && error.code === "payload_too_large") return null;
    throw error;
  }
  const args = ["diff-tree", "-r", "-z", "--name-status", "--find-renames", "--diff-filter=R"];
  const result = await query(engine, mirror, [...args, "--end-of-options", from, to, "--"]);
  // too many renames to tell
  if (result.stopped === "output") return null;
  if (result.code !== 0 || result.stopped) throw engineFailure(engine, "finding renames", result);
  const fields = latin1(result.stdout).split("\0");
  const at = fields.findIndex((field, index) => index % 3 === 1 && field === latin1(path));
  const name = fields[at + 1];
  return at < 0 || name === undefined ? null : Uint8Array.from(Buffer.from(name, "latin1"));
}

/** Bytes as text, a character for each. */
function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
