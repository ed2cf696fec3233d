import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequestApprovals, changeRequests } from "../../../db/schema/index.ts";
import type { ReviewBody, SubmittedReview } from "../../contract/change-request-review.ts";
import type { Comment } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import { COMMENT_MAX_BYTES, REVIEW_MAX_BYTES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import { storable } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { notifyOfChangeRequest } from "../notifications/record.ts";
import { readProtection } from "../projects/protection.ts";
import { byOf, recordTimeline } from "../timeline/record.ts";
import { insertComments, keepSession, type NewComment, takeNumbers } from "./comments/add.ts";
import { type CommentedDiff, findAnchor, findDiff } from "./comments/anchor.ts";
import { commentChange, toWireOf } from "./comments/row.ts";
import { keepHeads, recordHeads } from "./heads.ts";
import { requireHead } from "./merge-intent.ts";
import { answerRequest } from "./people/change.ts";
import { present } from "./present.ts";
import { refresh } from "./refresh.ts";
import { type CrRow, findChangeRequest } from "./row.ts";
import { recordCrEvent } from "./webhook.ts";

const WEBHOOKS = {
  APPROVE: "cr.approved",
  REQUEST_CHANGES: "cr.changes_requested",
  COMMENT: "cr.commented",
} as const;

/**
 * Submits a review: a verdict on the head commit, a summary and comments on lines, all or none of them, with one event and
 * one notification. An approval takes the place of the person's request for changes, and the other way round.
 * @throws validation_failed, not_found, too_many_comments, what `findDiff` throws; with a verdict also forbidden, not_open,
 *   head_moved
 */
export async function submitReview(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  wanted: ReviewBody,
): Promise<SubmittedReview> {
  const verdict = verdictOf(wanted);
  const summary = summaryOf(wanted);
  const found = await findChangeRequest(deps.db, project, name);
  const seen = wanted.commit_id;
  const { row, listing, head } = verdict
    ? await findHead(deps, caller, project, found, seen)
    : { row: found, listing: null, head: null };
  const { comments, diff } = await readComments(deps, caller, project, row, wanted);
  const said: NewComment[] =
    summary === null ? comments : [{ body: summary, anchor: null, replyTo: null }, ...comments];
  const at = deps.clock();
  const added = await deps.db.transaction(async (tx) => {
    const sessionId = await keepSession(tx, caller);
    if (verdict && head !== null)
      await recordVerdict(tx, caller, row, { ...verdict, headCommitSha: head, createdAt: at });
    const first = said.length === 0 ? 0 : await takeNumbers(tx, row, said.length);
    const rows = await insertComments(tx, caller, row, said, { first, sessionId, at });
    if (diff?.isCurrent)
      await recordHeads(
        tx,
        [{ crId: row.crId, headCommitSha: diff.head, baseCommitSha: diff.base }],
        at,
        "seen",
      );
    const wire: Comment[] = [];
    for (const each of rows) wire.push(await toWireOf(tx, each));
    const [one] = wire;
    const event = WEBHOOKS[wanted.event];
    const more = { ...(verdict === null && { comment: one }), ...(wire.length > 0 && { comments: wire }) };
    await recordCrEvent(deps, tx, project, { type: event, at }, row, more);
    await notifyOfChangeRequest(tx, row, {
      ...{ event, text: verdict?.body ?? one?.body ?? "" },
      but: caller.kind === "user" ? caller.userId : null,
      key: verdict ? `${row.crId} ${caller.userId} ${head}` : (one?.comment_id ?? ""),
    });
    const changes = rows.map((each) => commentChange(each, row, "created"));
    await publish(tx, project.projectId, ...(verdict ? [approvalChange(row, "created")] : []), ...changes);
    return wire;
  });
  // does not delay the answer
  if (diff) void keepHeads(deps, project, [row]);
  return { change_request: await present(deps, project, row, listing), comments: added };
}

type Verdict = Pick<typeof changeRequestApprovals.$inferSelect, "state" | "body">;

/** @throws validation_failed for a request for changes without a text */
function verdictOf({ event, body }: ReviewBody): Verdict | null {
  if (event === "COMMENT") return null;
  if (event === "APPROVE") return { state: "approved", body: null };
  if (isBlank(body)) throw missing("What has to change?", event);
  return { state: "changes_requested", body: storable("body", body, REVIEW_MAX_BYTES) };
}

/** The summary as a comment; null for a request for changes, which has it as its text. @throws validation_failed */
function summaryOf({ event, body, comments = [] }: ReviewBody): string | null {
  if (event === "REQUEST_CHANGES") return null;
  if (!isBlank(body)) return storable("body", body, COMMENT_MAX_BYTES);
  if (event === "COMMENT" && comments.length === 0) throw missing("The review says nothing.", event);
  return null;
}

function isBlank(body: string | undefined): body is undefined {
  return body === undefined || body.trim() === "";
}

function missing(why: string, event: string): SvcError {
  const message = event === "COMMENT" ? "is required without comments" : `is required with ${event}`;
  return new SvcError("validation_failed", `${why} body ${message}.`, {
    details: [{ path: "body", message }],
  });
}

/** The head commit that a verdict is on. @param seen the one that was reviewed */
async function findHead(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  found: CrRow,
  seen: string | undefined,
): Promise<{ row: CrRow; listing: Branches; head: string }> {
  requirePerson(caller);
  const { rows, listing } = await refresh(deps, project, [found]);
  const [row = found] = rows;
  if (row.status !== "open") throw notOpen(row, row.status);
  if (!listing)
    throw new SvcError(
      "repo_unreachable",
      `The repository of ${project.name} does not respond, so #${row.number} cannot be reviewed now. Try again in a moment.`,
    );
  await requireOther(deps, caller, project, row, listing);
  return { row, listing, head: requireHead(row, listing, seen) };
}

/** The comments of a review with their lines, and the diff of the last of them. */
async function readComments(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { crId }: CrRow,
  { comments = [], commit_id }: ReviewBody,
): Promise<{ comments: NewComment[]; diff: CommentedDiff | null }> {
  const diffs = new Map<string | null, CommentedDiff>();
  const read: NewComment[] = [];
  for (const each of comments) {
    const commit = each.commit_id ?? commit_id ?? null;
    const diff = diffs.get(commit) ?? (await findDiff(deps, caller, project, crId, commit));
    diffs.set(commit, diff);
    const body = storable("body", each.body, COMMENT_MAX_BYTES);
    read.push({ body, anchor: await findAnchor(deps, diff, each), replyTo: null });
  }
  const all = [...diffs.values()];
  return { comments: read, diff: all.find(({ isCurrent }) => isCurrent) ?? all[0] ?? null };
}

/** @throws not_open when the change request was merged or closed meanwhile */
async function recordVerdict(
  tx: Db,
  caller: Caller,
  row: CrRow,
  verdict: Verdict & { headCommitSha: string; createdAt: Date },
): Promise<void> {
  const status = await lockStatus(tx, row);
  if (status !== "open") throw notOpen(row, status);
  await tx
    .insert(changeRequestApprovals)
    .values({ crId: row.crId, userId: caller.userId, ...verdict })
    .onConflictDoUpdate({
      target: [changeRequestApprovals.crId, changeRequestApprovals.userId],
      set: verdict,
    });
  await answerRequest(tx, row, caller);
  const { state, body, headCommitSha, createdAt: at } = verdict;
  await recordTimeline(tx, { by: byOf(caller), at }, [
    {
      ...({ crId: row.crId, event: "reviewed", state, commit_sha: headCommitSha } as const),
      ...(body !== null && { body }),
    },
  ]);
}

/** Enforces `[change_requests] self_approval`. @throws forbidden, repo_unreachable */
async function requireOther(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { createdBy, openedByAgent }: CrRow,
  listing: Branches,
): Promise<void> {
  if (createdBy !== caller.userId || (await readProtection(deps, project, listing)).selfApproval) return;
  const opened = openedByAgent
    ? "An agent opened this change request on your behalf"
    : "You opened this change request";
  throw new SvcError(
    "forbidden",
    `${opened}, so another person must review it. If the project has no other reviewer, set self_approval = true under [change_requests] in ${project.manifestPath}.`,
  );
}

/** @throws forbidden for an agent or a script */
export function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "Only people approve change requests or request changes; the token of an agent or script cannot. Ask a person to run: svc cr approve",
  );
}

/** The status of a change request, whose row is locked: this serializes its approvals and merges. */
export async function lockStatus(tx: Db, { crId }: CrRow): Promise<string> {
  const [row] = await tx
    .select({ status: changeRequests.status })
    .from(changeRequests)
    .where(eq(changeRequests.crId, crId))
    .for("update");
  return row?.status ?? "deleted";
}

export function notOpen({ number }: CrRow, status: string): SvcError {
  return new SvcError(
    "not_open",
    `Change request #${number} is ${status}. Only an open change request can be reviewed.`,
  );
}

/** The event for an approval, or a request for changes. */
export function approvalChange({ crId, number }: CrRow, action: ProjectChange["action"]): ProjectChange {
  return { type: "approval", id: crId, number, action };
}
