import { and, asc, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, changeRequestApprovals, changeRequests, users } from "../../../db/schema/index.ts";
import type { REVIEW_STATES } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { listed } from "../../http/text.ts";
import type { Protection } from "../projects/protection.ts";
import type { CrRow } from "./row.ts";

/** An approval, or a request for changes, by a current member of the account. */
export interface ApprovalRow {
  crId: string;
  userId: string;
  name: string;
  headCommitSha: string;
  state: (typeof REVIEW_STATES)[number];
  body: string | null;
  createdAt: Date;
}

/** The approvals of change requests, and the requests for changes, oldest first, without those of people who have left the account. */
export async function approvalsOf(db: Db, crIds: readonly string[]): Promise<ApprovalRow[]> {
  if (crIds.length === 0) return [];
  return await ofMany(db).execute({ crIds: JSON.stringify(crIds) });
}

const { crId, userId, headCommitSha, state, body, createdAt } = changeRequestApprovals;

const ofMany = prepared((db) =>
  db
    .select({ crId, userId, name: users.name, headCommitSha, state, body, createdAt })
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
  { userId, headCommitSha, state }: Pick<ApprovalRow, "userId" | "headCommitSha" | "state">,
  { createdBy }: Pick<CrRow, "createdBy">,
  head: string,
  { selfApproval }: Pick<Protection, "selfApproval">,
): boolean {
  return state === "approved" && headCommitSha === head && (selfApproval || userId !== createdBy);
}

/**
 * Enforces requests for changes, and the project's required approvals for the head that is merged.
 * @param tx has locked the row of the change request, so no approval is withdrawn and no change requested meanwhile
 * @throws changes_requested, approval_required
 */
export async function requireApprovals(
  tx: Db,
  row: Pick<CrRow, "crId" | "number" | "createdBy">,
  head: string,
  rule: Pick<Protection, "requiredApprovals" | "selfApproval">,
): Promise<void> {
  const { crId, number } = row;
  const required = rule.requiredApprovals;
  const all = await approvalsOf(tx, [crId]);
  const requests = requestsIn(all);
  if (requests.length > 0) throw changesRequested(number, requests);
  if (required === 0) return;
  const given = all.filter(({ state }) => state === "approved");
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

/** Those that block a merge. */
export function requestsIn(given: readonly ApprovalRow[]): ApprovalRow[] {
  return given.filter(({ state }) => state === "changes_requested");
}

function changesRequested(number: number, requests: readonly ApprovalRow[]): SvcError {
  const by = listed(requests.map(({ name }) => name));
  return new SvcError(
    "changes_requested",
    `Change request #${number} cannot be merged, because changes were requested by ${by}. It can be merged once they approve it or withdraw the request, or an owner or admin dismisses it. See what they request: svc cr show ${number}`,
    { by: requests.map(({ userId, name }) => ({ user_id: userId, name })) },
  );
}
