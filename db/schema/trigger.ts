import { sql } from "drizzle-orm";
import {
  bigserial,
  boolean,
  index,
  integer,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { FIRING_SOURCES, FIRING_STATES, TRIGGER_TYPES } from "../../src/contract/trigger.ts";
import { accounts, users } from "./account.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const triggerType = pgEnum("trigger_type", TRIGGER_TYPES);
export const firingSource = pgEnum("firing_source", FIRING_SOURCES);
export const firingState = pgEnum("firing_state", FIRING_STATES);

/** The triggers of the manifests on the default branches, and when they fire next. */
export const triggers = pgTable(
  "triggers",
  {
    triggerId: uuid("trigger_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    /** Its position in the file. */
    position: integer("position").notNull(),
    type: triggerType("type").notNull(),
    name: text("name"),
    agent: text("agent"),
    model: text("model"),
    /** The names of the secrets that its sessions get of their audiences; null: all. */
    secrets: text("secrets").array(),
    prompt: text("prompt").notNull(),
    enabled: boolean("enabled").notNull(),
    cron: text("cron"),
    timezone: text("timezone").notNull(),
    secretEnv: text("secret_env"),
    /** Null for a webhook, and for a disabled trigger. */
    nextFireAt: time("next_fire_at"),
    lastFiredAt: time("last_fired_at"),
    lastError: text("last_error"),
    /** Why its entry in the manifest cannot fire, as a message. */
    problem: text("problem"),
  },
  (table) => [
    uniqueIndex("triggers_project_slug").on(table.projectId, table.slug),
    index("triggers_next_fire_at").on(table.nextFireAt),
  ],
);

/** Recent firings of triggers: fired, waiting, missed, skipped and failed. */
export const triggerFirings = pgTable(
  "trigger_firings",
  {
    /** Orders the firings by arrival. */
    seq: bigserial("seq", { mode: "number" }).primaryKey(),
    firingId: uuid("firing_id").notNull().defaultRandom(),
    triggerId: uuid("trigger_id")
      .notNull()
      .references(() => triggers.triggerId, { onDelete: "cascade" }),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    /** Identifies a repeated firing: its due time, or its delivery. */
    key: text("key").notNull(),
    source: firingSource("source").notNull(),
    state: firingState("state").notNull(),
    dueAt: time("due_at").notNull(),
    /** The last of a range of missed due times. */
    dueUntil: time("due_until"),
    /** Chosen with the row, so that its session is created only once; null for a missed firing. */
    sessionId: uuid("session_id"),
    /** The user that the session belongs to; null: the account's owner. */
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    /** The prompt of the session; null when the firing has ended. */
    prompt: text("prompt"),
    error: text("error"),
    createdAt: time("created_at").notNull(),
    endedAt: time("ended_at"),
  },
  (table) => [
    uniqueIndex("trigger_firings_trigger_key").on(table.triggerId, table.key),
    index("trigger_firings_trigger_seq").on(table.triggerId, table.seq),
    index("trigger_firings_session_id").on(table.sessionId),
    index("trigger_firings_waiting").on(table.accountId, table.seq).where(sql`${table.state} = 'waiting'`),
    index("trigger_firings_waiting_project").on(table.projectId).where(sql`${table.state} = 'waiting'`),
  ],
);
