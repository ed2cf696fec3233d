import { and, eq } from "drizzle-orm";
import { changeRequestApprovals } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import type { RequestChangesBody } from "../../contract/change-request-review.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { byOf, recordTimeline } from "../timeline/record.ts";
import type { ApprovalRow } from "./approved.ts";
import { present } from "./present.ts";
import { approvalChange, lockStatus, notOpen, requirePerson, submitReview } from "./review.ts";
import { findChangeRequest } from "./row.ts";
import { recordCrEvent } from "./webhook.ts";

/**
 * Approves the head commit of an open change request, in the place of an earlier request for changes by the same person. A
 * later push needs a new approval.
 * @param seen the head commit that was reviewed; another one is not approved
 * @throws forbidden, not_open, head_moved, branch_missing, repo_unreachable, not_found
 */
export async function approveChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  seen: string | undefined,
): Promise<ChangeRequest> {
  const review = { event: "APPROVE", ...(seen !== undefined && { commit_id: seen }) } as const;
  return (await submitReview(deps, caller, project, name, review)).change_request;
}

/**
 * Requests changes on an open change request, in the place of an earlier approval by the same person. It blocks the merge,
 * also of later commits, until the person approves or withdraws the request, or an owner or admin dismisses it.
 * @throws validation_failed, and what `approveChangeRequest` throws
 */
export async function requestChanges(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { body, head_commit_sha: seen }: RequestChangesBody,
): Promise<ChangeRequest> {
  const review = { event: "REQUEST_CHANGES", body, ...(seen !== undefined && { commit_id: seen }) } as const;
  return (await submitReview(deps, caller, project, name, review)).change_request;
}

/** Withdraws the caller's approval, if there is one. A merge that has already recorded its intent continues. */
export async function withdrawApproval(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequest> {
  requirePerson(caller);
  return await remove(deps, caller, project, name, { userId: caller.userId, state: "approved" });
}

/**
 * Removes a person's request for changes, if there is one: they withdraw it, or an owner or admin dismisses it.
 * @throws forbidden, not_open, not_found
 */
export async function removeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  userId: string,
): Promise<ChangeRequest> {
  requirePerson(caller);
  if (!UUID.test(userId))
    throw new SvcError("validation_failed", "The id of the person whose request to dismiss must be a UUID.");
  return await remove(deps, caller, project, name, {
    userId: userId.toLowerCase(),
    state: "changes_requested",
  });
}

async function remove(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { userId, state }: Pick<ApprovalRow, "userId" | "state">,
): Promise<ChangeRequest> {
  const row = await findChangeRequest(deps.db, project, name);
  await deps.db.transaction(async (tx) => {
    const status = await lockStatus(tx, row);
    if (status !== "open") throw notOpen(row, status);
    const [gone] = await tx
      .delete(changeRequestApprovals)
      .where(
        and(
          eq(changeRequestApprovals.crId, row.crId),
          eq(changeRequestApprovals.userId, userId),
          eq(changeRequestApprovals.state, state),
        ),
      )
      .returning({ commit: changeRequestApprovals.headCommitSha });
    if (!gone) return;
    const at = deps.clock();
    await recordTimeline(tx, { by: byOf(caller), at }, [
      { crId: row.crId, event: "review_dismissed", user_id: userId, state, commit_sha: gone.commit },
    ]);
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at }, row);
    await publish(tx, project.projectId, approvalChange(row, "deleted"));
  });
  return await present(deps, project, row, null);
}
