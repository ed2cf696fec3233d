import { and, eq, gt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequestApprovals, changeRequests, mergeIntents } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { checkBranchName } from "../../git/refs.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { lockProject } from "../projects/lock.ts";
import { repositoryOf } from "../projects/repository.ts";
import { type Act, recordTimeline } from "../timeline/record.ts";
import { OFF } from "./auto-merge/row.ts";
import { existingTip, requireTwoBranches } from "./open.ts";
import { requireNoOtherOpen } from "./other-open.ts";
import type { CrRow } from "./row.ts";
import { settle } from "./settle.ts";
import { stopMerging } from "./stop-merging.ts";

/** A branch to merge into, and its commit. */
interface Base {
  ref: string;
  commit: string;
}

/**
 * The new base of an open change request. Settles an earlier merge into the old one, which is not looked for later.
 * @returns null when that is its base already
 * @throws not_open, validation_failed, invalid_ref, ref_not_found, repo_unreachable
 */
export async function findBase(
  deps: Deps,
  project: ProjectRow,
  row: CrRow,
  wanted: string,
): Promise<Base | null> {
  const ref = checkBranchName(wanted);
  if (ref === row.baseRef) return null;
  requireTwoBranches(row.headRef, ref);
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  if (row.hasIntents && (await settle(deps, project, row, listing))) throw notOpen(row);
  return { ref, commit: existingTip(listing.tips, ref) };
}

/**
 * Changes the base of an open change request, in a transaction. Its approvals are removed: they were of another diff. Requests
 * for changes stay.
 * @throws not_open, merge_in_progress; already_open if another one of its branch into that base is open
 */
export async function changeBase(
  deps: Deps,
  tx: Db,
  project: ProjectRow,
  row: CrRow,
  base: Base,
  act: Act,
): Promise<void> {
  const { crId, number, headRef } = row;
  const [changed] = await tx
    .update(changeRequests)
    .set({ baseRef: base.ref, baseCommitSha: base.commit })
    .where(and(eq(changeRequests.crId, crId), eq(changeRequests.status, "open")))
    .returning({ crId: changeRequests.crId });
  if (!changed) throw notOpen(row);
  // after the row, in the order of those who change one and announce that
  await lockProject(tx, project.projectId);
  await requireNoOtherOpen(deps, tx, project, { crId, headRef, baseRef: base.ref });
  // the row is locked: a merge has either recorded its intent, which is found here, or will find another base
  const pushing = and(eq(mergeIntents.crId, crId), gt(mergeIntents.expiresAt, deps.clock()));
  if ((await tx.$count(mergeIntents, pushing)) > 0) {
    const sentence = `Change request #${number} is being merged. Try again in a moment.`;
    throw new SvcError("merge_in_progress", sentence, {}, { "Retry-After": "5" });
  }
  await tx.delete(mergeIntents).where(eq(mergeIntents.crId, crId));
  await recordTimeline(tx, act, [{ crId, event: "base_ref_changed", from: row.baseRef, to: base.ref }]);
  await stopMerging(tx, act, [crId], OFF.rebased);
  const gone = await tx
    .delete(changeRequestApprovals)
    .where(and(eq(changeRequestApprovals.crId, crId), eq(changeRequestApprovals.state, "approved")))
    .returning();
  const dismissed = { crId, event: "review_dismissed", state: "approved" } as const;
  await recordTimeline(
    tx,
    act,
    gone
      .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
      .map(({ userId, headCommitSha }) => ({ ...dismissed, user_id: userId, commit_sha: headCommitSha })),
  );
}

function notOpen({ number }: Pick<CrRow, "number">): SvcError {
  const sentence = `Change request #${number} is not open, so its base cannot be changed. See its status: svc cr show ${number}`;
  return new SvcError("not_open", sentence);
}
