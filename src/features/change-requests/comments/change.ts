import { asc, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestComments, changeRequests } from "../../../../db/schema/index.ts";
import type { Role } from "../../../contract/account.ts";
import type { Comment } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { COMMENT_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import { storable } from "../../../http/text.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { type CrRow, findChangeRequest } from "../row.ts";
import { placeAt, storedTips } from "./place.ts";
import { type CommentRow, commentChange, findComment, isAuthor, toWireOf, unknownComment } from "./row.ts";

/** Edits the text of a comment. Only its author may. @throws forbidden, not_found, validation_failed */
export async function editComment(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  names: CommentNames,
  text: string,
): Promise<Comment> {
  const body = storable("body", text, COMMENT_MAX_BYTES);
  return await change(deps, project, names, async (tx, comment) => {
    if (!isAuthor(caller, comment))
      throw new SvcError("forbidden", "Only the author of a comment can edit it. You can reply to it.");
    return await update(tx, comment, { body, updatedAt: deps.clock() });
  });
}

/**
 * Resolves or reopens a thread. Doing so again changes nothing. An agent cannot resolve a thread that a person started;
 * it replies instead.
 * @throws forbidden, validation_failed for a reply, not_found
 */
export async function resolveComment(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  names: CommentNames,
  isResolved: boolean,
): Promise<Comment> {
  return await change(deps, project, names, async (tx, comment) => {
    if (comment.replyTo !== null)
      throw new SvcError(
        "validation_failed",
        `This comment is a reply. To resolve the thread, name its first comment: ${comment.replyTo}.`,
      );
    if (caller.kind === "project" && !comment.byAgent)
      throw new SvcError(
        "forbidden",
        "A person started this thread, so only a person can resolve it. Reply that it is done instead.",
      );
    if ((comment.resolvedAt !== null) === isResolved) return comment;
    const now = deps.clock();
    const resolved = { resolvedAt: isResolved ? now : null, resolvedBy: isResolved ? caller.userId : null };
    const event = isResolved ? "thread_resolved" : "thread_reopened";
    const { crId, commentId } = comment;
    await recordTimeline(tx, { by: byOf(caller), at: now }, [{ crId, event, comment_id: commentId }]);
    return await update(tx, comment, resolved);
  });
}

/** A change request by id or number, and one of its comments. */
export interface CommentNames {
  crId: string;
  commentId: string;
}

async function change(
  deps: Deps,
  project: ProjectRow,
  names: CommentNames,
  write: (tx: Db, comment: CommentRow) => Promise<CommentRow>,
): Promise<Comment> {
  const cr = await findChangeRequest(deps.db, project, names.crId);
  await placeAt(deps, project, storedTips(cr), [await findComment(deps.db, cr, names.commentId)]);
  return await deps.db.transaction(async (tx) => {
    await lockComments(tx, cr);
    const before = await findComment(tx, cr, names.commentId);
    const after = await write(tx, before);
    const comment = await toWireOf(tx, after);
    if (after !== before) await publish(tx, project.projectId, commentChange(after, cr, "changed"));
    return comment;
  });
}

/** Serializes changes to the comments of a change request, so that threads stay consistent. */
export async function lockComments(tx: Db, { crId }: CrRow): Promise<void> {
  await tx
    .select({ crId: changeRequests.crId })
    .from(changeRequests)
    .where(eq(changeRequests.crId, crId))
    .for("update");
}

async function update(tx: Db, { commentId }: CommentRow, values: Partial<CommentRow>): Promise<CommentRow> {
  const [row] = await tx
    .update(changeRequestComments)
    .set(values)
    .where(eq(changeRequestComments.commentId, commentId))
    .returning();
  if (!row) throw unknownComment(commentId);
  return row;
}

/**
 * Deletes a comment. Its author may, the person on whose behalf an agent wrote it, and owners and admins. Replies stay:
 * the first of them becomes the first comment of the thread.
 * @throws forbidden, not_found, validation_failed
 */
export async function deleteComment(
  deps: Deps,
  caller: Caller,
  role: Role,
  project: ProjectRow,
  names: CommentNames,
): Promise<{ ok: true }> {
  const cr = await findChangeRequest(deps.db, project, names.crId);
  await deps.db.transaction(async (tx) => {
    await lockComments(tx, cr);
    const comment = await findComment(tx, cr, names.commentId);
    if (!mayDelete(caller, role, comment))
      throw new SvcError(
        "forbidden",
        "Only the author of a comment, or an owner or admin of the account, can delete it.",
      );
    const changes = comment.replyTo === null ? await promoteReply(tx, cr, comment) : [];
    await tx.delete(changeRequestComments).where(eq(changeRequestComments.commentId, comment.commentId));
    await publish(tx, project.projectId, commentChange(comment, cr, "deleted"), ...changes);
  });
  return { ok: true };
}

function mayDelete(caller: Caller, role: Role, comment: CommentRow): boolean {
  if (caller.kind === "project") return isAuthor(caller, comment);
  return comment.createdBy === caller.userId || role !== "member";
}

/** What a thread has, and not its comments. */
function positionOf(row: CommentRow) {
  const { path, line, startLine, side, quote, headCommitSha, anchorCommitSha } = row;
  const { placedCommitSha, placedPath, placedLine, placedStartLine, resolvedAt, resolvedBy } = row;
  const position = { path, line, startLine, side, quote, headCommitSha, anchorCommitSha };
  const placed = { placedCommitSha, placedPath, placedLine, placedStartLine };
  return { ...position, ...placed, resolvedAt, resolvedBy };
}

/** Makes the first reply the first comment of the thread. */
async function promoteReply(tx: Db, cr: CrRow, old: CommentRow): Promise<ProjectChange[]> {
  const [next] = await tx
    .select()
    .from(changeRequestComments)
    .where(eq(changeRequestComments.replyTo, old.commentId))
    .orderBy(asc(changeRequestComments.number))
    .limit(1);
  if (!next) return [];
  await update(tx, next, { replyTo: null, ...positionOf(old) });
  await tx
    .update(changeRequestComments)
    .set({ replyTo: next.commentId })
    .where(eq(changeRequestComments.replyTo, old.commentId));
  // the other replies, of which there may be thousands, only refer to another comment
  return [commentChange(next, cr, "changed")];
}
