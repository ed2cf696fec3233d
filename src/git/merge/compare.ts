import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Comparison, Relation } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import { mergeTrees } from "./merge-tree.ts";

/**
 * The result of merging `head` into `base`. Git writes its objects to a temporary directory, so that comparing does not
 * grow the mirror.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function compareCommits(
  engine: Engine,
  mirror: Mirror,
  base: string,
  head: string,
): Promise<Comparison> {
  if (base === head) return upToDate(base);
  const needless = new AbortController();
  // both at once: the merge is needed in most cases, and the bases alone take as long
  const bases = mergeBases(engine, mirror, base, head);
  const merging = mergeInQuarantine(engine, mirror, base, head, bases, needless.signal);
  merging.catch(() => {});
  const [mergeBase] = await bases.catch(async (error: unknown) => {
    needless.abort();
    await merging.catch(() => {});
    throw error;
  });
  if (!mergeBase || mergeBase === head || mergeBase === base) {
    needless.abort();
    await merging.catch(() => {});
    if (!mergeBase)
      return { mergeBase: null, isUpToDate: false, canMerge: false, canFastForward: false, conflicts: [] };
    if (mergeBase === head) return upToDate(mergeBase);
    return { mergeBase, isUpToDate: false, canMerge: true, canFastForward: true, conflicts: [] };
  }
  const merged = await merging;
  const conflicts = merged.clean ? [] : merged.conflicts;
  return { mergeBase, isUpToDate: false, canMerge: merged.clean, canFastForward: false, conflicts };
}

/**
 * The relation of two commits, without merging them.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function relateCommits(
  engine: Engine,
  mirror: Mirror,
  base: string,
  head: string,
): Promise<Relation> {
  const [mergeBase = null] = base === head ? [base] : await mergeBases(engine, mirror, base, head);
  return { mergeBase, isUpToDate: mergeBase === head, canFastForward: mergeBase === base && base !== head };
}

/** Pairs whose merge bases are cached: a review requests the same pair many times, and a merge twice. */
const PAIRS_MAX = 500;

/**
 * All merge bases of two commits, the one that `git merge-base` prints first; none for unrelated histories.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export function mergeBases(engine: Engine, mirror: Mirror, base: string, head: string): Promise<string[]> {
  const pair = `${base} ${head}`;
  const known = mirror.bases.get(pair);
  if (known) return known;
  const bases = runMergeBase(engine, mirror, base, head);
  if (mirror.bases.size >= PAIRS_MAX) mirror.bases.clear();
  mirror.bases.set(pair, bases);
  // a failure is not remembered
  bases.catch(() => mirror.bases.delete(pair));
  return bases;
}

async function runMergeBase(engine: Engine, mirror: Mirror, base: string, head: string): Promise<string[]> {
  const result = await query(engine, mirror, ["merge-base", "--all", base, head]);
  const lines = linesOf(result);
  if (result.stopped || (result.code !== 0 && result.code !== 1) || (result.code === 1 && lines.length > 0)) {
    throw engineFailure(engine, "looking for the merge base", result);
  }
  return lines;
}

/** @throws SvcError `merge_engine_failed`; MirrorSuspect */
export async function isAncestorOf(
  engine: Engine,
  mirror: Mirror,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  if (ancestor === descendant) return true;
  const result = await query(engine, mirror, ["merge-base", "--is-ancestor", ancestor, descendant]);
  if (result.stopped || (result.code !== 0 && result.code !== 1))
    throw engineFailure(engine, "comparing commits", result);
  return result.code === 0;
}

/** Commits that are counted of a push. */
const ADDED_MAX = 1_000;

/** @throws SvcError `merge_engine_failed`; MirrorSuspect */
export async function countAdded(
  engine: Engine,
  mirror: Mirror,
  from: string,
  to: string,
): Promise<number | null> {
  if (!(await isAncestorOf(engine, mirror, from, to))) return null;
  const args = ["rev-list", "--count", `--max-count=${ADDED_MAX}`, to, `^${from}`];
  const result = await query(engine, mirror, args);
  const [count = ""] = linesOf(result);
  if (result.stopped || result.code !== 0 || !/^\d+$/.test(count))
    throw engineFailure(engine, "counting commits", result);
  return Number(count);
}

async function mergeInQuarantine(
  engine: Engine,
  mirror: Mirror,
  base: string,
  head: string,
  bases: Promise<string[]>,
  signal: AbortSignal,
) {
  const directory = join(engine.directories.temporary, `objects-${crypto.randomUUID()}`);
  await mkdir(directory, { mode: 0o700 });
  try {
    const objects = {
      GIT_OBJECT_DIRECTORY: directory,
      // quoted as C strings are: the list is separated by colons
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(mirror.directory, "objects")),
    };
    return await mergeTrees(engine, mirror, { base, head }, objects, bases, signal);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function upToDate(mergeBase: string): Comparison {
  return { mergeBase, isUpToDate: true, canMerge: true, canFastForward: false, conflicts: [] };
}
