import { sql } from "drizzle-orm";
import { check, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { REVIEW_STATES } from "../../src/contract/change-request.ts";
import { users } from "./account.ts";
import { changeRequests } from "./change-request.ts";
import { time } from "./time.ts";

export const reviewState = pgEnum("review_state", REVIEW_STATES);

/**
 * Who approved a change request or requested changes, and at which head. A person has one of the two. An approval counts for
 * that head only; a request stays.
 */
export const changeRequestApprovals = pgTable(
  "change_request_approvals",
  {
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId),
    headCommitSha: text("head_commit_sha").notNull(),
    state: reviewState("state").notNull().default("approved"),
    /** What has to change. */
    body: text("body"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.crId, table.userId] }),
    check(
      "change_request_approvals_request_has_text",
      sql`(${table.state} = 'changes_requested') = (${table.body} is not null)`,
    ),
  ],
);
