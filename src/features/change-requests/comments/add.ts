import { and, eq, lt, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestComments, changeRequests, projectSessions } from "../../../../db/schema/index.ts";
import type { AddCommentBody, Comment } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { COMMENT_MAX_BYTES, COMMENTS_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { storable } from "../../../http/text.ts";
import { actorOf } from "../../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { notifyOfChangeRequest } from "../../notifications/record.ts";
import { keepHeads, recordHeads } from "../heads.ts";
import { type CrRow, findChangeRequest } from "../row.ts";
import { recordCrEvent } from "../webhook.ts";
import { findAnchor } from "./anchor.ts";
import { commentChange, findComment, toWireOf } from "./row.ts";

/**
 * Adds a comment to a change request in any state: to the whole, to a file, to a line of its diff, or as a reply. A reply
 * to a reply belongs to the same thread. A reply to a resolved thread leaves it resolved.
 * @throws validation_failed, not_found, too_many_comments, and what `findAnchor` throws.
 */
export async function addComment(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  wanted: AddCommentBody,
): Promise<Comment> {
  const body = storable("body", wanted.body, COMMENT_MAX_BYTES);
  const cr = await findChangeRequest(deps.db, project, name);
  const replyTo = wanted.reply_to === undefined ? null : await threadOf(deps.db, cr, wanted);
  const anchor = replyTo ? null : await findAnchor(deps, project, cr.crId, wanted);
  const now = deps.clock();
  const added = await deps.db.transaction(async (tx) => {
    const sessionId = await keepSession(tx, caller);
    // locks the row of the change request, so the first comment of the thread is not deleted meanwhile
    const number = await takeNumber(tx, cr);
    const thread = replyTo && (await threadOf(tx, cr, wanted));
    const [row] = await tx
      .insert(changeRequestComments)
      .values({
        crId: cr.crId,
        number,
        replyTo: thread,
        body,
        ...anchor,
        createdBy: caller.userId,
        byAgent: caller.kind === "project",
        createdActor: actorOf(caller),
        sessionId,
        createdAt: now,
        updatedAt: now,
      })
      .returning();
    if (!row) throw new Error("the insert of a comment returned no row");
    if (anchor) await recordHeads(tx, [{ crId: cr.crId, ...anchor }], now);
    const comment = await toWireOf(tx, row);
    await recordCrEvent(deps, tx, project, { type: "cr.commented", at: now }, cr, { comment });
    const but = caller.kind === "user" ? caller.userId : null;
    await notifyOfChangeRequest(tx, cr, { event: "cr.commented", key: row.commentId, text: body, but });
    await publish(tx, project.projectId, commentChange(row, cr, "created"));
    return comment;
  });
  // does not delay the answer
  if (anchor) void keepHeads(deps, project, [cr]);
  return added;
}

/** The first comment of the thread that is replied to. */
async function threadOf(db: Db, cr: CrRow, wanted: AddCommentBody): Promise<string> {
  const { reply_to, path, line, start_line, side } = wanted;
  if ([path, line, start_line, side].some((given) => given !== undefined))
    throw new SvcError(
      "validation_failed",
      "A reply has the position of its thread. Remove path, line, start_line and side.",
    );
  const row = await findComment(db, cr, reply_to ?? "");
  return row.replyTo ?? row.commentId;
}

/**
 * Locks the agent's session against deletion. Must come before the lock on the change request, because a deletion locks
 * the session first and then updates change requests.
 */
async function keepSession(tx: Db, caller: Caller): Promise<string | null> {
  if (caller.kind === "user" || caller.sessionId === null) return null;
  const [session] = await tx
    .select({ id: projectSessions.sessionId })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, caller.sessionId))
    .for("key share");
  return session?.id ?? null;
}

/** @throws too_many_comments when the change request has reached the limit */
async function takeNumber(tx: Db, { crId }: CrRow): Promise<number> {
  const [counter] = await tx
    .update(changeRequests)
    .set({ lastCommentNumber: sql`${changeRequests.lastCommentNumber} + 1` })
    .where(and(eq(changeRequests.crId, crId), lt(changeRequests.lastCommentNumber, COMMENTS_MAX)))
    .returning({ number: changeRequests.lastCommentNumber });
  if (counter) return counter.number;
  throw new SvcError(
    "too_many_comments",
    `A change request can have ${COMMENTS_MAX} comments. Close it and continue in a new one.`,
    { limit: COMMENTS_MAX },
  );
}
