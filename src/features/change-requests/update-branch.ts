import type { UpdateBranchBody, UpdatedBranch } from "../../contract/change-request-update.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { recordPushes } from "../timeline/pushes.ts";
import { byOf } from "../timeline/record.ts";
import { pushHead, type Tips, writableTips } from "./add-to-head.ts";
import { personOf, plain } from "./merge-commits.ts";
import { relate, wholeSecond } from "./merge-intent.ts";
import { refresh } from "./refresh.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/**
 * Merges the base into the head branch of an open change request, as the caller. The push is a compare-and-swap from the
 * head that was merged.
 * @throws forbidden, not_found, not_open, merge_conflict, unrelated_histories, nothing_to_merge, head_moved, base_moved, branch_missing,
 *   push_rejected, repo_unreachable, merge_engine_failed
 */
export async function updateBranch(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { head_commit_sha: seen, base_commit_sha: seenBase }: UpdateBranchBody,
): Promise<UpdatedBranch> {
  requirePerson(caller);
  const cr = await findChangeRequest(deps.db, project, name);
  const tips = await writableTips(deps, project, cr, seen);
  if (seenBase !== undefined && seenBase.toLowerCase() !== tips.base)
    throw new SvcError(
      "base_moved",
      `"${cr.baseRef}" has moved since you looked at it. Look at the change request again and retry.`,
    );
  const commit = await mergeBase(deps, caller, project, cr, tips);
  if (commit === tips.head) return { updated: false, head_commit_sha: tips.head, base_commit_sha: tips.base };
  await pushHead(deps, project, cr, { from: tips.head, to: commit });
  await deps.db.transaction(async (tx) => {
    await recordPushes(tx, project, byOf(caller), [{ branch: cr.headRef, commit }]);
    await publish(tx, project.projectId, { type: "branch", id: cr.headRef, action: "changed" });
  });
  await refresh(deps, project, [cr]);
  return { updated: true, head_commit_sha: commit, base_commit_sha: tips.base };
}

function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "Only people update a branch. Merge the base branch with git, and push the branch of the session.",
  );
}

/** The head with the base in it: the head itself if it has it already. @throws merge_conflict, unrelated_histories, nothing_to_merge */
async function mergeBase(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: CrRow,
  { base, head }: Tips,
): Promise<string> {
  const repo = repositoryOf(deps, project);
  const { number, baseRef, headRef } = cr;
  if ((await relate(deps, repo, cr, { base, head })).canFastForward) return head;
  const written = await deps.git.writeMerge(repo, {
    ...{ base: head, head: base },
    message: `Merge branch '${plain(baseRef)}' into ${plain(headRef)}`,
    identity: await personOf(deps, caller),
    date: wholeSecond(deps.clock()),
  });
  if ("commit" in written) return written.commit;
  throw new SvcError(
    "merge_conflict",
    `Cannot update "${headRef}": it conflicts with "${baseRef}". Merge "${baseRef}" with git, or let the agent resolve the conflicts: svc cr resolve-conflicts ${number}`,
    { conflicts: written.conflicts },
  );
}
