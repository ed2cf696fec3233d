import { and, asc, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import {
  accountMembers,
  changeRequests,
  commitStatuses,
  mergeVerdicts,
  projects,
} from "../../../db/schema/index.ts";
import type { CodeOwnerReviews } from "../../contract/code-owners.ts";
import type { InboxItem, InboxReason } from "../../contract/inbox.ts";
import type { Deps } from "../../deps.ts";
import { listed, shorten } from "../../http/text.ts";
import { type ApprovalRow, approvalsOf, counts, requestsIn } from "../change-requests/approved.ts";
import { ownerReviewsOf } from "../change-requests/code-owners/reviews.ts";
import { hasFailed, type Reported } from "../checks/statuses.ts";
import { summaryOf } from "../checks/summary.ts";
import { isOpen, itemOf } from "./item.ts";
import { READ_MAX } from "./limits.ts";

/** The caller's open change requests that need them: with requested changes, conflicts or failed checks, or ready to merge. */
export async function ownChangeRequests(
  deps: Deps,
  userId: string,
): Promise<{ items: InboxItem[]; truncated: boolean }> {
  const found = await openOf(deps, userId);
  const rows = found.slice(0, READ_MAX);
  const crIds = rows.map(({ cr }) => cr.crId);
  const [approvals, reported] = await Promise.all([approvalsOf(deps.db, crIds), reportedOf(deps.db, crIds)]);
  const owners = await ownerReviewsOf(
    deps.db,
    rows.map(({ cr, project }) => ({ row: cr, rule: project })),
    approvals,
  );
  const items = rows.flatMap((row) => {
    const { crId } = row.cr;
    const own = reported.filter((status) => status.crId === crId);
    const need = needOf(
      row,
      own,
      approvals.filter((approval) => approval.crId === crId),
      owners.get(crId) ?? null,
    );
    return need ? [itemOf(deps, row, need.reason, need.text)] : [];
  });
  return { items, truncated: found.length > READ_MAX };
}

type Row = Awaited<ReturnType<typeof openOf>>[number];

/** What a change request needs of the person who opened it; null: nothing, such as while its checks run. */
function needOf(
  { cr, project, canMerge }: Row,
  reported: readonly Reported[],
  approvals: readonly ApprovalRow[],
  owners: CodeOwnerReviews | null,
): { reason: InboxReason; text: string } | null {
  const requests = requestsIn(approvals);
  if (requests.length > 0)
    return { reason: "changes_requested", text: `By ${listed(requests.map(({ name }) => name))}` };
  if (canMerge === false) return { reason: "conflicts", text: `It conflicts with ${shorten(cr.baseRef)}` };
  const { state, required } = summaryOf(reported, project);
  if (state === "failure") return { reason: "checks_failed", text: failedText(reported) };
  const head = cr.headCommitSha;
  if (canMerge === null || head === null || cr.draft) return null;
  const isReady = [
    required.every((check) => check.state === "success"),
    state !== "pending",
    approvals.filter((approval) => counts(approval, cr, head, project)).length >= project.requiredApprovals,
    owners === null || owners.state === "approved",
  ].every(Boolean);
  return isReady ? { reason: "ready", text: `It can be merged into ${shorten(cr.baseRef)}` } : null;
}

function failedText(reported: readonly Reported[]): string {
  return `Failed: ${listed(reported.filter(({ state }) => hasFailed(state)).map(({ context }) => context))}`;
}

/** The newest first, each with what is known of its merge; null: its commits have not been compared. */
async function openOf({ db, git }: Deps, userId: string) {
  return await db
    .select({ cr: changeRequests, project: projects, canMerge: mergeVerdicts.canMerge })
    .from(changeRequests)
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, projects.accountId), eq(accountMembers.userId, userId)),
    )
    .leftJoin(
      mergeVerdicts,
      and(
        eq(mergeVerdicts.projectId, changeRequests.projectId),
        eq(mergeVerdicts.baseSha, changeRequests.baseCommitSha),
        eq(mergeVerdicts.headSha, changeRequests.headCommitSha),
        eq(mergeVerdicts.gitVersion, git.version),
      ),
    )
    .where(and(eq(changeRequests.createdBy, userId), isOpen))
    .orderBy(desc(changeRequests.updatedAt))
    .limit(READ_MAX + 1);
}

/** The checks of the heads of change requests, of any project. */
async function reportedOf(db: Db, crIds: readonly string[]): Promise<(Reported & { crId: string })[]> {
  if (crIds.length === 0) return [];
  return await db
    .select({
      crId: changeRequests.crId,
      sha: commitStatuses.sha,
      context: commitStatuses.context,
      state: commitStatuses.state,
    })
    .from(changeRequests)
    .innerJoin(
      commitStatuses,
      and(
        eq(commitStatuses.projectId, changeRequests.projectId),
        eq(commitStatuses.sha, changeRequests.headCommitSha),
      ),
    )
    .where(inArray(changeRequests.crId, [...crIds]))
    .orderBy(asc(commitStatuses.context));
}
