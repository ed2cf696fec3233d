import type { changeRequests } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { ChangeRequest } from "../contract/change-request.ts";
import type { Deps } from "../deps.ts";
import type { Branches } from "../git/git.ts";
import { knownApprovalRule } from "../projects/approval-rule.ts";
import { type ApprovalRow, approvalsOf } from "./approved.ts";

type Row = typeof changeRequests.$inferSelect;

/**
 * A change request's row as it crosses the wire: every column of spec 2.1, and its approvals.
 * @param listing the repository's branches, if they are at hand
 */
export async function present(
  deps: Deps,
  project: ProjectRow,
  row: Row,
  listing: Branches | null,
): Promise<ChangeRequest> {
  const [shown] = await presentAll(deps, project, [row], listing);
  if (!shown) throw new Error("a change request was left out");
  return shown;
}

/**
 * The same for many, by one look at their approvals.
 * @param found the approvals, if they were asked for before
 */
export async function presentAll(
  deps: Deps,
  project: ProjectRow,
  rows: readonly Row[],
  listing: Branches | null,
  found = approvalsOf(deps.db, idsOf(rows)),
): Promise<ChangeRequest[]> {
  const [approvals, required] = await Promise.all([found, knownApprovalRule(deps, project, listing)]);
  return rows.map((row) => {
    const own = approvals.filter(({ crId }) => crId === row.crId);
    return {
      ...toWire(row),
      approvals: own.map((approval) => approvalToWire(row, approval)),
      required_approvals: required,
    };
  });
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ crId }) => crId);
}

function toWire(row: Row): Omit<ChangeRequest, "approvals" | "required_approvals"> {
  return {
    cr_id: row.crId,
    account_id: row.accountId,
    project_id: row.projectId,
    number: row.number,
    title: row.title,
    description: row.description,
    base_ref: row.baseRef,
    head_ref: row.headRef,
    status: row.status,
    head_commit_sha: row.headCommitSha,
    base_commit_sha: row.baseCommitSha,
    origin_session_id: row.originSessionId,
    created_by: row.createdBy,
    opened_by_agent: row.openedByAgent,
    merged_at: row.mergedAt?.toISOString() ?? null,
    merged_by: row.mergedBy,
    merge_commit_sha: row.mergeCommitSha,
    closed_at: row.closedAt?.toISOString() ?? null,
    closed_by: row.closedBy,
    metadata: row.metadata,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function approvalToWire(row: Row, approval: ApprovalRow): ChangeRequest["approvals"][number] {
  return {
    user_id: approval.userId,
    name: approval.name,
    head_commit_sha: approval.headCommitSha,
    created_at: approval.createdAt.toISOString(),
    counts: approval.headCommitSha === row.headCommitSha,
  };
}
