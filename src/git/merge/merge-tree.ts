import { SvcError } from "../../contract/errors.ts";
import { CONFLICTS_MAX } from "../../contract/limits.ts";
import { attributesOf, lookUp, lookUpAll, showAttributes } from "../diff/attributes.ts";
import type { Attributes, Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure, MirrorSuspect } from "../run/failure.ts";
import { query } from "../run/query.ts";

/** Two commits to merge. */
export interface Sides {
  base: string;
  head: string;
  /** The commit whose attributes count, if it is not `base`. */
  attributes?: string;
}

/** The result of a merge: a tree, or paths in conflict (the list may be empty; git's exit status decides). */
export type Merged = { clean: true; tree: string } | { clean: false; conflicts: string[] };

/**
 * Merges `head` into `base` as `git merge` in a work tree of `base` would (git's recursive merge with renames), without a
 * work tree. Both are full object ids.
 *
 * Attributes are those of `base`, unless the caller names another commit. Before git 2.43 they must be written to a work
 * tree in advance: the merge first runs with those of the root directory; its messages name paths, and if their directories
 * have attributes, it runs again.
 * @param objects environment variables that determine where git writes trees and blobs
 * @param bases the merge bases, if known. With several, git does not name the paths of its inner merges: then all
 *   attributes of `base` are written.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function mergeTrees(
  engine: Engine,
  mirror: Mirror,
  sides: Sides,
  objects: Record<string, string>,
  bases: Promise<string[]>,
  signal?: AbortSignal,
): Promise<Merged> {
  const attributes = await attributesOf(engine, mirror, sides.attributes ?? sides.base);
  for (let round = 0; ; round++) {
    const result = await runOnce(engine, mirror, sides, objects, attributes, signal);
    const more =
      (await bases).length > 1 || round >= ROUNDS_MAX
        ? await lookUpAll(engine, mirror, attributes)
        : await lookUp(engine, mirror, attributes, result.mentioned);
    if (!more) return result.merged;
  }
}

/** Attributes can move conflicts into other directories; after this many rounds all attributes are written. */
const ROUNDS_MAX = 3;

async function runOnce(
  engine: Engine,
  mirror: Mirror,
  { base, head }: Sides,
  objects: Record<string, string>,
  attributes: Attributes,
  signal: AbortSignal | undefined,
): Promise<{ merged: Merged; mentioned: string[] }> {
  await using shown = await showAttributes(engine, attributes);
  const environment = { ...mirror.environment, ...objects, ...shown.environment };
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", base, head];
  const result = await query(engine, { environment }, args, {
    ...(shown.directory ? { directory: shown.directory } : {}),
    ...(signal ? { signal } : {}),
  });
  // other statuses are errors; a conflict may have no path (a directory renamed to two places)
  if (result.stopped || (result.code !== 0 && result.code !== 1))
    throw engineFailure(engine, "merging", result);
  const { tree, conflicts, mentioned } = readMergeTree(result.stdout, [base, head]);
  // a git that cannot read a commit also ends with 1, but never names a tree
  if (!TREE.test(tree)) {
    const failure = engineFailure(engine, "merging", result);
    throw failure instanceof SvcError ? new MirrorSuspect(failure) : failure;
  }
  if (result.code === 0) return { merged: { clean: true, tree }, mentioned };
  return { merged: { clean: false, conflicts }, mentioned };
}

const TREE = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Reads `merge-tree -z --name-only --messages`: the tree, the paths in conflict, an empty field, then messages of the
 * form `<count> <path>... <kind> <text>`; all fields end with NUL.
 * @param labels the commits that were merged: git puts `~<commit>` behind a path that it had to move aside
 * @returns `conflicts` as text, sorted and without duplicates, at most `CONFLICTS_MAX`; `mentioned` paths in latin1
 */
function readMergeTree(
  bytes: Uint8Array,
  labels: readonly string[],
): { tree: string; conflicts: string[]; mentioned: string[] } {
  const fields = Buffer.from(bytes).toString("latin1").split("\0");
  const tree = (fields[0] ?? "").trim();
  const end = fields.indexOf("", 1);
  const listed = fields.slice(1, end < 0 ? undefined : end);
  const label = new RegExp(`~(?:${labels.join("|")})(?:_\\d+)?$`);
  const names = listed.map((path) => path.replace(label, ""));
  const mentioned = new Set(names);
  for (let at = end + 1; end >= 0 && at < fields.length - 1; ) {
    const count = Number(fields[at]);
    if (!Number.isInteger(count)) break;
    for (const path of fields.slice(at + 1, at + 1 + count)) mentioned.add(path.replace(label, ""));
    at += count + 3;
  }
  const conflicts = [...new Set(names.map((name) => new TextDecoder().decode(Buffer.from(name, "latin1"))))];
  return { tree, conflicts: conflicts.sort().slice(0, CONFLICTS_MAX), mentioned: [...mentioned] };
}
