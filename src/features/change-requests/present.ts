import type { Db } from "../../../db/client.ts";
import type { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import { authorOf, namesOf, recordedActor } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Addressed } from "../../identity/auth/public-url.ts";
import { type Reported, reportedOf } from "../checks/statuses.ts";
import { summaryOf } from "../checks/summary.ts";
import { type Spent, spentBySessions, usageOf } from "../models/spent.ts";
import { knownProtection, type Protection, storedProtection } from "../projects/protection.ts";
import { type ApprovalRow, approvalsOf, counts } from "./approved.ts";
import { autoMergesOf } from "./auto-merge/row.ts";
import { ownerReviewsOf } from "./code-owners/reviews.ts";
import { openThreadsOf } from "./comments/open-threads.ts";
import { labelsOf } from "./labels/of.ts";
import { mergeableOf } from "./mergeable.ts";
import { pageUrl } from "./page-url.ts";
import { type Part, peopleOf } from "./people/of.ts";
import { queuedOf, type Shown } from "./queue/row.ts";
import { revertsOf } from "./reverts.ts";
import type { CrRow } from "./row.ts";

/** The dependencies of what is shown beside the row. */
export type Presenting = Addressed & Pick<Deps, "verdicts"> & { git: Pick<Deps["git"], "version"> };

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
 * The same for many, with one query each for their approvals, checks, auto-merges, labels, people and open threads.
 * @param approvals theirs, if that query has been started
 */
export async function presentAll(
  deps: Deps,
  project: ProjectRow,
  rows: readonly Row[],
  listing: Branches | null,
  approvals = approvalsOf(deps.db, idsOf(rows)),
): Promise<ChangeRequest[]> {
  return await presentWith(deps, deps.db, project, rows, {
    approvals,
    rule: knownProtection(deps, project, listing),
  });
}

/** The same within a transaction, with the rules as they are stored. */
export async function presentStored(
  deps: Presenting,
  tx: Db,
  project: ProjectRow,
  row: Row,
): Promise<ChangeRequest> {
  const approvals = approvalsOf(tx, [row.crId]);
  const [shown] = await presentWith(deps, tx, project, [row], {
    approvals,
    rule: storedProtection(tx, project),
  });
  if (!shown) throw new Error("a change request was left out");
  return shown;
}

async function presentWith(
  deps: Presenting,
  db: Db,
  project: ProjectRow,
  rows: readonly Row[],
  begun: { approvals: Promise<ApprovalRow[]>; rule: Promise<Protection> },
): Promise<ChangeRequest[]> {
  const ids = idsOf(rows);
  const users = rows.flatMap(({ createdBy, mergedBy, closedBy }) => [createdBy, mergedBy, closedBy]);
  const sessions = rows.map(({ originSessionId }) => originSessionId);
  const queue = queuedOf(db, openOf(rows));
  const checks = queue.then((queued) =>
    reportedOf(db, project.projectId, [...headsOf(rows), ...resultsOf(queued)]),
  );
  const ownerReviews = Promise.all([begun.approvals, begun.rule]).then(([approvals, rule]) =>
    ownerReviewsOf(
      db,
      rows.map((row) => ({ row, rule })),
      approvals,
    ),
  );
  const [
    approvals,
    rule,
    queued,
    reported,
    names,
    spent,
    mergeable,
    autoMerges,
    reverts,
    labels,
    people,
    threads,
    owners,
  ] = await Promise.all([
    begun.approvals,
    begun.rule,
    queue,
    checks,
    namesOf(db, users),
    spentBySessions(db, sessions),
    mergeableOf({ ...deps, db }, project, rows),
    autoMergesOf(db, openOf(rows)),
    revertsOf(db, project, rows),
    labelsOf(db, ids),
    peopleOf(db, ids),
    openThreadsOf(db, ids),
    ownerReviews,
  ]);
  const known: Known = {
    ...{ approvals, rule, queued, reported, names, spent },
    ...{ mergeable, autoMerges, reverts, labels, people, threads, owners },
  };
  return rows.map((row) => shown(deps, project, row, known));
}

/** What is known of change requests beside their rows. */
interface Known {
  approvals: readonly ApprovalRow[];
  reported: readonly Reported[];
  rule: Protection;
  names: ReadonlyMap<string, string>;
  spent: ReadonlyMap<string, Spent>;
  /** By the id of a change request. */
  mergeable: ReadonlyMap<string, boolean>;
  /** By the id of a change request. */
  autoMerges: ReadonlyMap<string, ChangeRequest["auto_merge"]>;
  /** By the number of the change request that is reverted. */
  reverts: ReadonlyMap<number, number>;
  /** By the id of a change request. */
  queued: ReadonlyMap<string, Shown>;
  labels: ReadonlyMap<string, ChangeRequest["labels"]>;
  people: Awaited<ReturnType<typeof peopleOf>>;
  /** By the id of a change request. */
  threads: ReadonlyMap<string, number>;
  /** By the id of a change request. */
  owners: Awaited<ReturnType<typeof ownerReviewsOf>>;
}

function shown(deps: Presenting, project: ProjectRow, row: Row, known: Known): ChangeRequest {
  const { approvals, reported, rule, names, spent, mergeable, autoMerges, reverts, queued, labels, people } =
    known;
  const own = approvals.filter(({ crId }) => crId === row.crId);
  const columns = toWire(row, names);
  const peopleIn = (part: Part) =>
    people
      .filter((person) => person.crId === row.crId && person.part === part)
      .map(({ userId, name }) => ({ user_id: userId, name }));
  return {
    ...columns,
    url: pageUrl(deps, project, row.number),
    opened_by_session_id: columns.author.session_id,
    mergeable: mergeable.get(row.crId) ?? null,
    ...usageOf(spent.get(row.originSessionId ?? "") ?? null),
    approvals: own.map((approval) => approvalToWire(row, approval, rule)),
    auto_merge: autoMerges.get(row.crId) ?? null,
    reverted_by: reverts.get(row.number) ?? null,
    queue: queueToWire(queued.get(row.crId), known),
    merge_queue: rule.mergeQueue,
    required_approvals: rule.requiredApprovals,
    merge_methods: rule.mergeMethods,
    code_owner_reviews: known.owners.get(row.crId) ?? null,
    open_threads: known.threads.get(row.crId) ?? 0,
    labels: labels.get(row.crId) ?? [],
    assignees: peopleIn("assignee"),
    requested_reviewers: peopleIn("reviewer"),
    checks: summaryOf(
      reported.filter(({ sha }) => sha === row.headCommitSha),
      rule,
    ),
  };
}

function queueToWire(
  shown: Shown | undefined,
  { reported, rule }: Pick<Known, "reported" | "rule">,
): ChangeRequest["queue"] {
  if (!shown) return null;
  const { row, position, author } = shown;
  const { testedSha } = row;
  const own = reported.filter(({ sha }) => sha === testedSha);
  return {
    state: row.outReason !== null ? "removed" : testedSha === null ? "waiting" : "testing",
    position,
    reason: row.outReason,
    head_commit_sha: row.headSha,
    tested_commit_sha: testedSha,
    checks: testedSha === null ? null : summaryOf(own, rule),
    method: row.method,
    delete_branch: row.deleteBranch,
    queued_by: author,
    queued_at: row.queuedAt.toISOString(),
  };
}

/** The merged results that are tested. */
function resultsOf(queued: ReadonlyMap<string, Shown>): (string | null)[] {
  return [...queued.values()].map(({ row }) => row.testedSha);
}

/** Also of those that are merged: their checks are those of the head that was merged. */
function headsOf(rows: readonly Row[]): (string | null)[] {
  return rows.map(({ headCommitSha }) => headCommitSha);
}

/** Those that can have an auto-merge. */
function openOf(rows: readonly Row[]): string[] {
  return idsOf(rows.filter(({ status }) => status === "open"));
}

function idsOf(rows: readonly Row[]): string[] {
  return rows.map(({ crId }) => crId);
}

function toWire(row: Row, names: ReadonlyMap<string, string>) {
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
    draft: row.draft,
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
    reverts: row.reverts,
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
    state: approval.state,
    body: approval.body,
    created_at: approval.createdAt.toISOString(),
    counts: row.headCommitSha !== null && counts(approval, row, row.headCommitSha, rule),
  };
}
