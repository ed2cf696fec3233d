import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { changeRequests } from "./change-request.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const diffSide = pgEnum("diff_side", ["old", "new"]);

/** Comments on a change request, on one of its files, or on a line of its diff. */
export const changeRequestComments = pgTable(
  "change_request_comments",
  {
    commentId: uuid("comment_id").primaryKey().defaultRandom(),
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    /** The number of the comment in its change request; numbers are never reused. */
    number: integer("number").notNull(),
    /** The first comment of its thread. */
    replyTo: uuid("reply_to").references((): AnyPgColumn => changeRequestComments.commentId),
    body: text("body").notNull(),
    path: text("path"),
    line: integer("line"),
    /** The first line of several, of which `line` is the last. */
    startLine: integer("start_line"),
    side: diffSide("side"),
    quote: text("quote"),
    headCommitSha: text("head_commit_sha"),
    /** The commit that has the line: the head, or the merge base for the old side. Null in old rows. */
    anchorCommitSha: text("anchor_commit_sha"),
    /** Where the line was when it was looked for last: in which commit, and there; without a line it is gone. */
    placedCommitSha: text("placed_commit_sha"),
    placedPath: text("placed_path"),
    placedLine: integer("placed_line"),
    placedStartLine: integer("placed_start_line"),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    /** Written by an agent or a script, for the user. */
    byAgent: boolean("by_agent").notNull(),
    createdActor: actor("created_actor"),
    sessionId: text("session_id").references(() => projectSessions.sessionId, { onDelete: "set null" }),
    resolvedAt: time("resolved_at"),
    resolvedBy: uuid("resolved_by").references(() => users.userId),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("change_request_comments_number").on(table.crId, table.number),
    index("change_request_comments_reply_to").on(table.replyTo),
    index("change_request_comments_open")
      .on(table.crId)
      .where(sql`${table.replyTo} is null and ${table.resolvedAt} is null`),
    index("change_request_comments_session_id").on(table.sessionId),
    check(
      "change_request_comments_anchor",
      sql`(${table.line} is null) = (${table.side} is null) and (${table.line} is null or ${table.path} is not null)`,
    ),
    check(
      "change_request_comments_lines",
      sql`${table.startLine} is null or ${table.startLine} < ${table.line}`,
    ),
    check(
      "change_request_comments_thread",
      sql`${table.replyTo} is null or (${table.resolvedAt} is null and ${table.path} is null)`,
    ),
  ],
);
