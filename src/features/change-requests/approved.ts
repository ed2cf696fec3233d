import { and, asc, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, changeRequestApprovals, changeRequests, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Protection } from "../projects/protection.ts";
import type { CrRow } from "./row.ts";

/** An approval by a current member of the account. */
export interface ApprovalRow {
  crId: string;
  userId: string;
  name: string;
  headCommitSha: string;
  createdAt: Date;
}

/** The approvals of change requests, oldest first, without those of people who have left the account. */
export async function approvalsOf(db: Db, crIds: readonly string[]): Promise<ApprovalRow[]> {
  if (crIds.length === 0) return [];
  return await ofMany(db).execute({ crIds: JSON.stringify(crIds) });
}

const { crId, userId, headCommitSha, createdAt } = changeRequestApprovals;

const ofMany = prepared((db) =>
  db
    .select({ crId, userId, name: users.name, headCommitSha, createdAt })
    .from(changeRequestApprovals)
    .innerJoin(users, eq(users.userId, userId))
    .innerJoin(changeRequests, eq(changeRequests.crId, crId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, changeRequests.accountId), eq(accountMembers.userId, userId)),
    )
    .where(
      sql`${crId} in (select value::uuid from json_array_elements_text(${sql.placeholder("crIds")}::json))`,
    )
    .orderBy(asc(createdAt), asc(userId))
    .prepare("approvals_of_change_requests"),
);

/**
 * Whether an approval counts for a merge of `head`: it approves that commit, and is not by the person who opened the
 * change request, or for whom an agent opened it, unless the project allows that (`self_approval`).
 */
export function counts(
  { userId, headCommitSha }: Pick<ApprovalRow, "userId" | "headCommitSha">,
  { createdBy }: Pick<CrRow, "createdBy">,
  head: string,
  { selfApproval }: Pick<Protection, "selfApproval">,
): boolean {
  return headCommitSha === head && (selfApproval || userId !== createdBy);
}

/**
 * Enforces the project's required approvals for the head that is merged.
 * @param tx has locked the row of the change request, so no approval is withdrawn meanwhile
 * @throws approval_required
 */
export async function requireApprovals(
  tx: Db,
  row: Pick<CrRow, "crId" | "number" | "createdBy">,
  head: string,
  rule: Pick<Protection, "requiredApprovals" | "selfApproval">,
): Promise<void> {
  const { crId, number } = row;
  const required = rule.requiredApprovals;
  if (required === 0) return;
  const given = await approvalsOf(tx, [crId]);
  const counting = given.filter((approval) => counts(approval, row, head, rule));
  const approvals = counting.length;
  if (approvals >= required) return;
  const stale = given.some(({ headCommitSha }) => headCommitSha !== head)
    ? " Approvals of an earlier commit do not count."
    : "";
  const own = given.some(({ userId }) => userId === row.createdBy && !rule.selfApproval)
    ? " The approval of the person who opened it, or for whom an agent opened it, does not count."
    : "";
  throw new SvcError(
    "approval_required",
    `Change request #${number} needs ${required} ${required === 1 ? "approval" : "approvals"} of its last commit and has ${approvals}.${stale}${own} To approve it, run: svc cr approve ${number}`,
    { required, approvals },
  );
}
