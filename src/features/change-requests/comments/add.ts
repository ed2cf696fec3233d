import { and, eq, lte, sql } from "drizzle-orm";
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
import { type Anchor, findAnchor, findDiff, hasAnchor } from "./anchor.ts";
import { type CommentRow, commentChange, findComment, toWireOf } from "./row.ts";

/**
 * Adds a comment to a change request in any state: to the whole, to a file, to a line of its diff, or as a reply. A reply
 * to a reply belongs to the same thread. A reply to a resolved thread leaves it resolved.
 * @throws validation_failed, not_found, too_many_comments, and what `findDiff` and `findAnchor` throw.
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
  const isOnFile = replyTo === null && hasAnchor(wanted);
  const diff = isOnFile ? await findDiff(deps, caller, project, cr.crId) : null;
  const anchor = diff && (await findAnchor(deps, diff, wanted));
  const now = deps.clock();
  const added = await deps.db.transaction(async (tx) => {
    const sessionId = await keepSession(tx, caller);
    // locks the row of the change request, so the first comment of the thread is not deleted meanwhile
    const first = await takeNumbers(tx, cr, 1);
    const thread = replyTo && (await threadOf(tx, cr, wanted));
    const said: NewComment = { body, anchor, replyTo: thread };
    const [row] = await insertComments(tx, caller, cr, [said], { first, sessionId, at: now });
    if (!row) throw new Error("the insert of a comment returned no row");
    if (anchor) await recordHeads(tx, [{ crId: cr.crId, ...anchor }], now, "seen");
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

/** A comment to insert. */
export interface NewComment {
  body: string;
  /** Null for a comment on the whole change request, and for a reply. */
  anchor: Anchor | null;
  replyTo: string | null;
}

/**
 * Inserts comments with their authors, in their order.
 * @param first the number of the first, from `takeNumbers`
 * @param sessionId from `keepSession`
 */
export async function insertComments(
  tx: Db,
  caller: Caller,
  { crId }: Pick<CrRow, "crId">,
  comments: readonly NewComment[],
  { first, sessionId, at }: { first: number; sessionId: string | null; at: Date },
): Promise<CommentRow[]> {
  if (comments.length === 0) return [];
  const rows = await tx
    .insert(changeRequestComments)
    .values(
      comments.map(({ body, anchor, replyTo }, index) => ({
        ...{ crId, number: first + index, replyTo, body, ...anchor, sessionId },
        createdBy: caller.userId,
        byAgent: caller.kind === "project",
        createdActor: actorOf(caller),
        createdAt: at,
        updatedAt: at,
      })),
    )
    .returning();
  return rows.sort((a, b) => a.number - b.number);
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
export async function keepSession(tx: Db, caller: Caller): Promise<string | null> {
  if (caller.kind === "user" || caller.sessionId === null) return null;
  const [session] = await tx
    .select({ id: projectSessions.sessionId })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, caller.sessionId))
    .for("key share");
  return session?.id ?? null;
}

/**
 * Takes numbers for comments, which locks the row of the change request.
 * @returns the first of them
 * @throws too_many_comments when the change request would have more than it can
 */
export async function takeNumbers(tx: Db, { crId }: Pick<CrRow, "crId">, count: number): Promise<number> {
  const { lastCommentNumber } = changeRequests;
  const [counter] = await tx
    .update(changeRequests)
    .set({ lastCommentNumber: sql`${lastCommentNumber} + ${count}` })
    .where(and(eq(changeRequests.crId, crId), lte(lastCommentNumber, COMMENTS_MAX - count)))
    .returning({ last: lastCommentNumber });
  if (counter) return counter.last - count + 1;
  throw new SvcError(
    "too_many_comments",
    `A change request can have ${COMMENTS_MAX} comments. Close it and continue in a new one.`,
    { limit: COMMENTS_MAX },
  );
}
