import { index, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { SESSION_STATUSES } from "../../src/contract/session.ts";
import { accounts, users } from "./account.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const sessionStatus = pgEnum("session_status", SESSION_STATUSES);

export const projectSessions = pgTable(
  "project_sessions",
  {
    sessionId: text("session_id").primaryKey(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    branchName: text("branch_name").notNull(),
    baseRef: text("base_ref").notNull(),
    status: sessionStatus("status").notNull(),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [index("project_sessions_project_id").on(table.projectId)],
);
