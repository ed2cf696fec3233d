import { pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { changeRequests } from "./change-request.ts";
import { time } from "./time.ts";

/** Who approved a change request, and at which head; the approval counts for that head only. */
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
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.crId, table.userId] })],
);
