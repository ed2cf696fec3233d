import { bigserial, boolean, index, integer, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import {
  BOOT_STEPS,
  LOG_SOURCES,
  PROVIDERS,
  SESSION_PURPOSES,
  SESSION_STATUSES,
  STOP_REASONS,
} from "../../src/contract/session.ts";
import { accounts, users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const sessionStatus = pgEnum("session_status", SESSION_STATUSES);
export const bootStep = pgEnum("boot_step", BOOT_STEPS);
export const sandboxProvider = pgEnum("sandbox_provider", PROVIDERS);
export const stopReason = pgEnum("stop_reason", STOP_REASONS);
/** What the session is to be; what it is, its status says. */
export const sessionGoal = pgEnum("session_goal", ["running", "stopped", "deleted"]);
export const sessionPurpose = pgEnum("session_purpose", SESSION_PURPOSES);
export const logSource = pgEnum("log_source", LOG_SOURCES);

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
    /** What its sandbox is for; one of an app is a deployment's, and shown to nobody as a session. */
    purpose: sessionPurpose("purpose").notNull().default("agent"),
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
    provider: sandboxProvider("provider").notNull().default("local"),
    /** Where its sandboxes are: a server's own id, or the cluster that all servers share. Only who is there can see them. */
    place: text("place").notNull().default(""),
    status: sessionStatus("status").notNull(),
    goal: sessionGoal("goal").notNull().default("running"),
    /** Counts the starts: each has a sandbox, a service key and a token of its own. */
    generation: integer("generation").notNull().default(1),
    step: bootStep("step"),
    error: text("error"),
    stopReason: stopReason("stop_reason"),
    /** The commit that keeps work which is not pushed, since when, of how many files, and of which start. */
    savedCommit: text("saved_commit"),
    savedAt: time("saved_at"),
    savedFiles: integer("saved_files"),
    savedGeneration: integer("saved_generation"),
    /** The next start is to bring it back. */
    restores: boolean("restores").notNull().default(false),
    /** The process that is making the session what it is to be, and until when it has the claim without renewing it. */
    worker: text("worker"),
    workerUntil: time("worker_until"),
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

/** The end of a session's log: what svc did, and what its builds and ended sandboxes have written. */
export const sessionLog = pgTable(
  "session_log",
  {
    seq: bigserial("seq", { mode: "number" }).primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    at: time("at").notNull().defaultNow(),
    source: logSource("source").notNull(),
    text: text("text").notNull(),
  },
  (table) => [index("session_log_session_id").on(table.sessionId, table.seq)],
);
