import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestComments, users } from "../../../../db/schema/index.ts";
import type { Comment } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { ProjectEvent } from "../../../contract/event.ts";
import { UUID } from "../../../contract/id.ts";
import type { ProjectChange } from "../../../events/publish.ts";
import { authorOf, recordedActor } from "../../../identity/auth/actor.ts";
import type { Caller } from "../../../identity/auth/caller.ts";
import type { CrRow } from "../row.ts";

export type CommentRow = typeof changeRequestComments.$inferSelect;
export type AuthoredComment = CommentRow & { authorName: string };

/** Finds a comment of a change request. @throws validation_failed, not_found */
export async function findComment(db: Db, { crId }: Pick<CrRow, "crId">, name: string): Promise<CommentRow> {
  if (!UUID.test(name))
    throw new SvcError(
      "validation_failed",
      "The id of a comment must be a UUID. List them with: svc cr comments <cr>",
    );
  const [row] = await db
    .select()
    .from(changeRequestComments)
    .where(
      and(eq(changeRequestComments.crId, crId), eq(changeRequestComments.commentId, name.toLowerCase())),
    );
  if (row) return row;
  throw unknownComment(name);
}

export function unknownComment(id: string): SvcError {
  return new SvcError(
    "not_found",
    `The change request has no comment ${id}. List its comments with: svc cr comments <cr>`,
  );
}

/** Where the lines of a comment are now, as far as they were looked for. */
export function placeOf(row: CommentRow): Pick<Comment, "path" | "line" | "start_line" | "outdated"> {
  if (row.placedCommitSha === null)
    return { path: row.path, line: row.line, start_line: row.startLine, outdated: false };
  return {
    path: row.placedPath ?? row.path,
    line: row.placedLine,
    start_line: row.placedStartLine,
    outdated: row.placedLine === null,
  };
}

/** A comment as it crosses the wire. */
export function commentToWire(row: AuthoredComment): Comment {
  return {
    comment_id: row.commentId,
    cr_id: row.crId,
    reply_to: row.replyTo,
    body: row.body,
    ...placeOf(row),
    side: row.side,
    original_path: row.path,
    original_line: row.line,
    original_start_line: row.startLine,
    quote: row.quote,
    head_commit_sha: row.headCommitSha,
    author: authorOf(
      new Map([[row.createdBy, row.authorName]]),
      row.createdBy,
      recordedActor(row.createdActor, row.byAgent, row.sessionId),
    ),
    resolved_at: row.resolvedAt?.toISOString() ?? null,
    resolved_by: row.resolvedBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** The same, with the author's name looked up. */
export async function toWireOf(db: Db, row: CommentRow): Promise<Comment> {
  const [user] = await db.select({ name: users.name }).from(users).where(eq(users.userId, row.createdBy));
  return commentToWire({ ...row, authorName: user?.name ?? "" });
}

/** Whether the caller wrote the comment. A person and each of their agents are different authors. */
export function isAuthor(caller: Caller, row: CommentRow): boolean {
  if (row.createdBy !== caller.userId) return false;
  return caller.kind === "user" ? !row.byAgent : row.byAgent && row.sessionId === caller.sessionId;
}

/** The event for a comment. */
export function commentChange(
  { commentId }: Pick<CommentRow, "commentId">,
  { number }: Pick<CrRow, "number">,
  action: ProjectEvent["action"],
): ProjectChange {
  return { type: "comment", id: commentId, number, action };
}
