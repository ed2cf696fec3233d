import { pgEnum, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { STATUS_STATES } from "../../src/contract/commit-status.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const commitStatusState = pgEnum("commit_status_state", STATUS_STATES);

/** The last result of each check of a commit. */
export const commitStatuses = pgTable(
  "commit_statuses",
  {
    statusId: uuid("status_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    sha: text("sha").notNull(),
    /** The name of the check. */
    context: text("context").notNull(),
    state: commitStatusState("state").notNull(),
    description: text("description"),
    targetUrl: text("target_url"),
    /** Null: svc itself ran the check. */
    createdBy: uuid("created_by").references(() => users.userId),
    createdActor: actor("created_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [uniqueIndex("commit_statuses_context").on(table.projectId, table.sha, table.context)],
);
