import { and, desc, eq, ne, notExists, sql } from "drizzle-orm";
import {
  accountMembers,
  changeRequestApprovals,
  changeRequestPeople,
  changeRequests,
  projects,
  users,
} from "../../../db/schema/index.ts";
import type { CodeOwnerReviews } from "../../contract/code-owners.ts";
import type { InboxItem } from "../../contract/inbox.ts";
import type { Deps } from "../../deps.ts";
import { approvalsOf, counts } from "../change-requests/approved.ts";
import { ownerReviewsOf } from "../change-requests/code-owners/reviews.ts";
import { isOpen, itemOf } from "./item.ts";
import { READ_MAX } from "./limits.ts";

/** The open change requests that the caller was asked to review, and has not. */
export async function requestedReviews(
  deps: Deps,
  userId: string,
): Promise<{ items: InboxItem[]; truncated: boolean }> {
  const rows = await deps.db
    .select({ cr: changeRequests, project: projects, author: users.name })
    .from(changeRequestPeople)
    .innerJoin(changeRequests, eq(changeRequests.crId, changeRequestPeople.crId))
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, projects.accountId), eq(accountMembers.userId, userId)),
    )
    .innerJoin(users, eq(users.userId, changeRequests.createdBy))
    .where(and(eq(changeRequestPeople.userId, userId), eq(changeRequestPeople.part, "reviewer"), isOpen))
    .orderBy(desc(changeRequests.updatedAt))
    .limit(READ_MAX + 1);
  const items = rows.slice(0, READ_MAX).map((row) => itemOf(deps, row, "review_requested", fromText(row)));
  return { items, truncated: rows.length > READ_MAX };
}

/** The open change requests of others that the caller's review may be wanted for, but no drafts. */
export async function changeRequestsToReview(
  deps: Deps,
  userId: string,
): Promise<{ items: InboxItem[]; truncated: boolean }> {
  const found = await notReviewedBy(deps, userId);
  const rows = found.slice(0, READ_MAX);
  const approvals = await approvalsOf(
    deps.db,
    rows.map(({ cr }) => cr.crId),
  );
  const owners = await ownerReviewsOf(
    deps.db,
    rows.map(({ cr, project }) => ({ row: cr, rule: project })),
    approvals,
  );
  const items = rows
    .filter(({ cr, project }) => {
      const { crId, headCommitSha: head } = cr;
      if (isMissing(owners.get(crId), userId)) return true;
      const given = approvals.filter((each) => each.crId === crId && head && counts(each, cr, head, project));
      return given.length < Math.max(project.requiredApprovals, 1);
    })
    .map((row) => itemOf(deps, row, "review", fromText(row)));
  return { items, truncated: found.length > READ_MAX };
}

/** Whether files wait for this code owner. */
function isMissing(reviews: CodeOwnerReviews | undefined, userId: string): boolean {
  return reviews?.missing.some(({ owners }) => owners.some((owner) => owner.user_id === userId)) ?? false;
}

function fromText({ cr, author }: { cr: { openedByAgent: boolean }; author: string }): string {
  return `From ${cr.openedByAgent ? "an agent of " : ""}${author}`;
}

/**
 * The newest of the caller's accounts. Each account is read by itself, in the order of its index: however many change
 * requests it has, a few rows are read.
 */
async function notReviewedBy({ db }: Deps, userId: string) {
  const { crId, accountId, createdBy, updatedAt, headCommitSha, draft } = changeRequests;
  const reviewed = db
    .select({ crId: changeRequestApprovals.crId })
    .from(changeRequestApprovals)
    .where(
      and(
        eq(changeRequestApprovals.crId, crId),
        eq(changeRequestApprovals.userId, userId),
        eq(changeRequestApprovals.headCommitSha, headCommitSha),
      ),
    );
  const newest = db
    .select({ id: sql<string>`${crId}`.as("newest_id") })
    .from(changeRequests)
    .where(
      and(
        eq(accountId, accountMembers.accountId),
        isOpen,
        eq(draft, false),
        ne(createdBy, userId),
        notExists(reviewed),
      ),
    )
    .orderBy(desc(updatedAt))
    .limit(READ_MAX + 1)
    .as("newest");
  return await db
    .select({ cr: changeRequests, project: projects, author: users.name })
    .from(accountMembers)
    .innerJoinLateral(newest, sql`true`)
    .innerJoin(changeRequests, eq(crId, newest.id))
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .innerJoin(users, eq(users.userId, createdBy))
    .where(eq(accountMembers.userId, userId))
    .orderBy(desc(updatedAt))
    .limit(READ_MAX + 1);
}
