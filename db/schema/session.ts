import { boolean, index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { accounts, users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { runs, sessionStatus } from "./run.ts";
import { time } from "./time.ts";

/** One conversation with an agent (spec 2.2); the sandbox that it runs in is its run, with the same id. */
export const projectSessions = pgTable(
  "project_sessions",
  {
    sessionId: text("session_id")
      .primaryKey()
      .references(() => runs.runId, { onDelete: "cascade" }),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    branchName: text("branch_name").notNull(),
    baseRef: text("base_ref").notNull(),
    name: text("name"),
    agentName: text("agent_name"),
    model: text("model"),
    /** The audiences whose secrets it gets, and the names of those that it gets of them; null: all of them. */
    secretAudience: text("secret_audience").array().notNull().default(["sessions"]),
    secretNames: text("secret_names").array(),
    initialPrompt: text("initial_prompt"),
    /** Numbers the prompts of the session. */
    promptCount: integer("prompt_count").notNull().default(0),
    /** Its run's: copied in the transaction that changes that, so that lists and counts need no join. */
    status: sessionStatus("status").notNull(),
    /** The commit that keeps work which is not pushed, since when, of how many files, and of which start. */
    savedCommit: text("saved_commit"),
    savedAt: time("saved_at"),
    savedFiles: integer("saved_files"),
    savedGeneration: integer("saved_generation"),
    /** The next start is to bring it back. */
    restores: boolean("restores").notNull().default(false),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    createdActor: actor("created_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
    lastActiveAt: time("last_active_at").notNull().defaultNow(),
  },
  (table) => [
    index("project_sessions_project_id").on(table.projectId, table.updatedAt),
    index("project_sessions_account_status").on(table.accountId, table.status),
  ],
);
