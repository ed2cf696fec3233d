import type { Db } from "../../../db/client.ts";
import type { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import { authorOf, namesOf, recordedActor } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Reported, reportedOf } from "../checks/statuses.ts";
import { summaryOf } from "../checks/summary.ts";
import { type Spent, spentBySessions, usageOf } from "../models/spent.ts";
import { knownProtection, type Protection, storedProtection } from "../projects/protection.ts";
import { type ApprovalRow, approvalsOf, counts } from "./approved.ts";
import type { CrRow } from "./row.ts";

type Row = typeof changeRequests.$inferSelect & Pick<CrRow, "stale">;

/**
 * A change request's row as it crosses the wire: every column of spec 2.1, and its approvals.
 * @param listing the repository's branches, if they have been listed
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
 * The same for many, with one query for their approvals, and one for their checks.
 * @param found the approvals, if that query has been started
 */
export async function presentAll(
  deps: Deps,
  project: ProjectRow,
  rows: readonly Row[],
  listing: Branches | null,
  found = approvalsOf(deps.db, idsOf(rows)),
): Promise<ChangeRequest[]> {
  const users = rows.flatMap(({ createdBy, mergedBy, closedBy }) => [createdBy, mergedBy, closedBy]);
  const [approvals, reported, rule, names, spent] = await Promise.all([
    found,
    reportedOf(deps.db, project.projectId, headsOf(rows)),
    knownProtection(deps, project, listing),
    namesOf(deps.db, users),
    spentBySessions(
      deps.db,
      rows.map(({ originSessionId }) => originSessionId),
    ),
  ]);
  return rows.map((row) => shown(row, { approvals, reported }, rule, names, spent));
}

/** The same within a transaction, with the rules as they are stored. */
export async function presentStored(tx: Db, project: ProjectRow, row: Row): Promise<ChangeRequest> {
  const approvals = await approvalsOf(tx, [row.crId]);
  const reported = await reportedOf(tx, project.projectId, headsOf([row]));
  const rule = await storedProtection(tx, project);
  const names = await namesOf(tx, [row.createdBy, row.mergedBy, row.closedBy]);
  return shown(row, { approvals, reported }, rule, names, await spentBySessions(tx, [row.originSessionId]));
}

function shown(
  row: Row,
  { approvals, reported }: { approvals: readonly ApprovalRow[]; reported: readonly Reported[] },
  rule: Protection,
  names: ReadonlyMap<string, string>,
  spent: ReadonlyMap<string, Spent>,
): ChangeRequest {
  const own = approvals.filter(({ crId }) => crId === row.crId);
  return {
    ...toWire(row, names),
    ...usageOf(spent.get(row.originSessionId ?? "") ?? null),
    approvals: own.map((approval) => approvalToWire(row, approval, rule)),
    required_approvals: rule.requiredApprovals,
    merge_methods: rule.mergeMethods,
    checks: summaryOf(
      reported.filter(({ sha }) => sha === row.headCommitSha),
      rule,
    ),
  };
}

/** Also of those that are merged: their checks are those of the head that was merged. */
function headsOf(rows: readonly Row[]): (string | null)[] {
  return rows.map(({ headCommitSha }) => headCommitSha);
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ crId }) => crId);
}

function toWire(
  row: Row,
  names: ReadonlyMap<string, string>,
): Omit<ChangeRequest, "approvals" | "required_approvals" | "merge_methods" | "checks" | "cost" | "tokens"> {
  const by = (userId: string | null, actor: Row["mergedActor"]) =>
    userId === null ? null : authorOf(names, userId, actor);
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
    author: authorOf(
      names,
      row.createdBy,
      recordedActor(row.createdActor, row.openedByAgent, row.originSessionId),
    ),
    opened_by_agent: row.openedByAgent,
    merged_at: row.mergedAt?.toISOString() ?? null,
    merged_by: row.mergedBy,
    merger: by(row.mergedBy, row.mergedActor),
    merge_commit_sha: row.mergeCommitSha,
    merge_method: row.mergeMethod,
    closed_at: row.closedAt?.toISOString() ?? null,
    closed_by: row.closedBy,
    closer: by(row.closedBy, row.closedActor),
    metadata: row.metadata,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    stale: row.stale ?? false,
  };
}

function approvalToWire(
  row: Row,
  approval: ApprovalRow,
  rule: Protection,
): ChangeRequest["approvals"][number] {
  return {
    user_id: approval.userId,
    name: approval.name,
    author: { user_id: approval.userId, name: approval.name, kind: "user", session_id: null },
    head_commit_sha: approval.headCommitSha,
    created_at: approval.createdAt.toISOString(),
    counts: row.headCommitSha !== null && counts(approval, row, row.headCommitSha, rule),
  };
}
