import { SvcError } from "../../contract/errors.ts";
import type { MergeRequest, Written } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { mergeBases } from "./compare.ts";
import { mergeTrees } from "./merge-tree.ts";
import { writeCommit } from "./write-commit.ts";
import { treeOf } from "./write-rebase.ts";

/**
 * Writes the commit that merges `head` into `base` into the mirror. The same request always gives the same commit.
 * @throws SvcError `merge_engine_failed`, `unrelated_histories`; MirrorSuspect
 */
export async function writeMergeCommit(
  engine: Engine,
  mirror: Mirror,
  request: MergeRequest,
): Promise<Written> {
  return await write(engine, mirror, request, [request.base, request.head]);
}

/**
 * The same tree as one commit on top of `base`.
 * @returns `base` itself if that changes nothing
 * @throws SvcError like `writeMergeCommit`
 */
export async function writeSquash(engine: Engine, mirror: Mirror, request: MergeRequest): Promise<Written> {
  const written = await write(engine, mirror, request, [request.base]);
  if ("conflicts" in written) return written;
  const [before, after] = [await treeOf(mirror, request.base), await treeOf(mirror, written.commit)];
  return before === after ? { commit: request.base } : written;
}

async function write(
  engine: Engine,
  mirror: Mirror,
  request: MergeRequest,
  parents: readonly string[],
): Promise<Written> {
  const { base, head } = request;
  const bases = mergeBases(engine, mirror, base, head);
  if ((await bases).length === 0) {
    throw new SvcError("unrelated_histories", "The two branches have no common history.");
  }
  const merged = await mergeTrees(engine, mirror, { base, head }, {}, bases);
  if (!merged.clean) return { conflicts: merged.conflicts };
  const commit = await writeCommit(engine, mirror, { ...request, tree: merged.tree, parents });
  // the parents are complete, and so are the objects of the merge
  markComplete(mirror, [commit]);
  return { commit };
}
