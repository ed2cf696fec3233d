import { type SQL, sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  boolean,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import type { RuntimeChoices } from "../../src/contract/daemon.ts";
import { DEFAULT_MODE, type PermissionMode } from "../../src/contract/runtimes.ts";
import {
  ACTIVITIES,
  type PERMISSION_REPLIES,
  type SessionSetup,
  type WaitingFor,
} from "../../src/contract/session.ts";
import { accounts, users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { runs, sessionStatus } from "./run.ts";
import { time } from "./time.ts";

/** A permission, and how it was given. */
type Granted = Pick<WaitingFor, "permission" | "patterns"> & { reply: (typeof PERMISSION_REPLIES)[number] };

export const sessionActivity = pgEnum("session_activity", ACTIVITIES);

/** One conversation with an agent (spec 2.2). Its run, with the same id, has its sandbox. */
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
    /** The first words of its first prompt, and what the agent's model calls its conversation. */
    promptTitle: text("prompt_title"),
    agentTitle: text("agent_title"),
    agentName: text("agent_name"),
    model: text("model"),
    /** How much the agent may do without asking, and how long its model thinks; null: the model's own. */
    mode: text("mode").$type<PermissionMode>().notNull().default(DEFAULT_MODE),
    effort: text("effort"),
    /** The agent that was chosen; null: the project's, which is recorded at a start. */
    runtime: text("runtime"),
    /** The audiences whose secrets it gets, and the names of those secrets; null: all of the audiences. */
    secretAudience: text("secret_audience").array().notNull().default(["sessions"]),
    secretNames: text("secret_names").array(),
    /** Whether it also gets the secrets of its own that `created_by` holds: a person launched it, or an agent of such a session. */
    getsOwnSecrets: boolean("gets_own_secrets").notNull().default(false),
    initialPrompt: text("initial_prompt"),
    /** Those that try the same task have the same one. */
    triesId: uuid("tries_id"),
    /** Numbers the prompts of the session. */
    promptCount: integer("prompt_count").notNull().default(0),
    /** A copy of the run's, updated in the same transaction, so that lists and counts need no join. */
    status: sessionStatus("status").notNull(),
    /**
     * The commit of the saved work that is not pushed, its time, its number of files, and the generation that saved it.
     */
    savedCommit: text("saved_commit"),
    savedAt: time("saved_at"),
    savedFiles: integer("saved_files"),
    savedGeneration: integer("saved_generation"),
    /** Whether the next start restores it. */
    restores: boolean("restores").notNull().default(false),
    /** How the setup command of the last start ended; null without one. */
    setup: jsonb("setup").$type<SessionSetup>(),
    /** What its agent does, since when, and what it waits for; null unless it runs, and until that is known. */
    activity: sessionActivity("activity"),
    activityAt: time("activity_at"),
    waitingFor: jsonb("waiting_for").$type<WaitingFor>(),
    /** What its agent asked in a sandbox that has ended, and nobody has answered; and when it asked. */
    keptRequest: jsonb("kept_request").$type<WaitingFor>(),
    keptAt: time("kept_at"),
    /** The permission that a person gave then: the agent has to ask for it once more. */
    grantedRequest: jsonb("granted_request").$type<Granted>(),
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
    index("project_sessions_tries_id").on(table.triesId).where(sql`${table.triesId} is not null`),
    index("project_sessions_account_status").on(table.accountId, table.status),
    index("project_sessions_created_by").on(table.createdBy, table.updatedAt),
    index("project_sessions_open").on(table.createdBy).where(isOpenSession(table)),
  ],
);

/** Whether it has a sandbox, is getting one, or left a question that nobody has answered. An index has those alone. */
export function isOpenSession(table: { status: AnyPgColumn; keptRequest: AnyPgColumn }): SQL {
  return sql`(${table.status} in ('provisioning', 'running') or ${table.keptRequest} is not null)`;
}

/** What an agent has offered to choose from in a project's last session with it, for sessions that do not run. */
export const runtimeChoices = pgTable(
  "runtime_choices",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    runtime: text("runtime").notNull(),
    choices: jsonb("choices").$type<RuntimeChoices>().notNull(),
    updatedAt: time("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.runtime] })],
);
