import type { RevertRequest, Written } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { writeCommit } from "./write-commit.ts";
import { replay, treeOf, writeBeside } from "./write-rebase.ts";

/**
 * Writes one commit on top of `base` that undoes the change from `before` to `merged`, as `git revert` does. The same
 * request always gives the same commit.
 * @returns `base` itself if there is nothing to undo
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function writeRevert(engine: Engine, mirror: Mirror, request: RevertRequest): Promise<Written> {
  const { base, merged, before } = request;
  const [onto, undone] = [await treeOf(mirror, base), await treeOf(mirror, before)];
  // the inverse change: on top of the merged result, the tree from before it
  const inverse = await writeBeside(engine, mirror, undone, merged);
  const tree = await replay(engine, mirror, { id: inverse, tree: undone, parent: merged }, onto, base);
  if (typeof tree !== "string") return { conflicts: tree };
  if (tree === onto) return { commit: base };
  const commit = await writeCommit(engine, mirror, { ...request, tree, parents: [base] });
  markComplete(mirror, [commit]);
  return { commit };
}
