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
import { type CrRow, findChangeRequest } from "../row.ts";
import { type CommentRow, commentChange, findComment, isAuthor, toWireOf, unknownComment } from "./row.ts";

/** Changes the words of a comment. Only who has said them may. @throws forbidden, not_found, validation_failed */
export async function editComment(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  names: CommentNames,
  words: string,
): Promise<Comment> {
  const body = storable("body", words, COMMENT_MAX_BYTES);
  return await change(deps, project, names, async (tx, comment) => {
    if (!isAuthor(caller, comment))
      throw new SvcError("forbidden", "Only the author of a comment changes it. You can reply to it.");
    return await update(tx, comment, { body, updatedAt: deps.clock() });
  });
}

/**
 * Says that what a thread is about is done, or that it is not. Saying so again changes nothing. A thread that a person
 * has begun is a person's to resolve; an agent replies to it.
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
        `A thread is resolved by its first comment, ${comment.replyTo}.`,
      );
    if (caller.kind === "project" && !comment.byAgent)
      throw new SvcError(
        "forbidden",
        "A person has begun this thread, and a person resolves it. Reply that it is done instead.",
      );
    if ((comment.resolvedAt !== null) === isResolved) return comment;
    const now = deps.clock();
    const resolved = { resolvedAt: isResolved ? now : null, resolvedBy: isResolved ? caller.userId : null };
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
  return await deps.db.transaction(async (tx) => {
    await hold(tx, cr);
    const before = await findComment(tx, cr, names.commentId);
    const after = await write(tx, before);
    const comment = await toWireOf(tx, after);
    if (after !== before) await publish(tx, project.projectId, commentChange(after, cr, "changed"));
    return comment;
  });
}

/** Comments of one change request are changed one after the other, so that a thread stays whole. */
async function hold(tx: Db, { crId }: CrRow): Promise<void> {
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
  if (!row) throw unknownComment();
  return row;
}

/**
 * Takes a comment away: its author may, the person for whom an agent has said it, and owners and admins. Replies stay:
 * the first of them is the thread's first comment from then on.
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
    await hold(tx, cr);
    const comment = await findComment(tx, cr, names.commentId);
    if (!mayDelete(caller, role, comment))
      throw new SvcError(
        "forbidden",
        "Only its author, or an owner or admin of the account, deletes a comment.",
      );
    const changes = comment.replyTo === null ? await handOn(tx, cr, comment) : [];
    await tx.delete(changeRequestComments).where(eq(changeRequestComments.commentId, comment.commentId));
    await publish(tx, project.projectId, commentChange(comment, cr, "deleted"), ...changes);
  });
  return { ok: true };
}

function mayDelete(caller: Caller, role: Role, comment: CommentRow): boolean {
  if (caller.kind === "project") return isAuthor(caller, comment);
  return comment.createdBy === caller.userId || role !== "member";
}

/** Makes the second comment of a thread its first. */
async function handOn(tx: Db, cr: CrRow, old: CommentRow): Promise<ProjectChange[]> {
  const [next] = await tx
    .select()
    .from(changeRequestComments)
    .where(eq(changeRequestComments.replyTo, old.commentId))
    .orderBy(asc(changeRequestComments.number))
    .limit(1);
  if (!next) return [];
  const { path, line, side, quote, headCommitSha, resolvedAt, resolvedBy } = old;
  const place = { path, line, side, quote, headCommitSha, resolvedAt, resolvedBy };
  await update(tx, next, { replyTo: null, ...place });
  await tx
    .update(changeRequestComments)
    .set({ replyTo: next.commentId })
    .where(eq(changeRequestComments.replyTo, old.commentId));
  // of the others only their thread's name has changed, and it may have thousands
  return [commentChange(next, cr, "changed")];
}
