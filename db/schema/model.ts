import { sql } from "drizzle-orm";
import {
  bigint,
  doublePrecision,
  index,
  integer,
  json,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { MODEL_FORMATS, type UpstreamModel } from "../../src/contract/model-upstream.ts";
import { CALL_STATES } from "../../src/contract/usage.ts";
import { accounts, users } from "./account.ts";
import { projects } from "./project.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const modelFormat = pgEnum("model_format", MODEL_FORMATS);
export const modelCallState = pgEnum("model_call_state", CALL_STATES);

/** The key of a session's sandbox for the model gateway. Each start has a new one; it is deleted when the run ends. */
export const modelKeys = pgTable(
  "model_keys",
  {
    /** HMAC-SHA256 of the key, as of a token. */
    hash: text("hash").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .unique("model_keys_session_id_unique")
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [index("model_keys_project_id").on(table.projectId)],
);

/** Calls of models: who called, and what was used. No prompt or answer is stored. */
export const modelCalls = pgTable(
  "model_calls",
  {
    callId: uuid("call_id").primaryKey().defaultRandom(),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    /** Null once the project, session or user is deleted: the account's usage stays. */
    projectId: uuid("project_id").references(() => projects.projectId, { onDelete: "set null" }),
    sessionId: text("session_id").references(() => projectSessions.sessionId, { onDelete: "set null" }),
    userId: uuid("user_id").references(() => users.userId, { onDelete: "set null" }),
    /** The server that passes the call on. */
    serverId: text("server_id").notNull(),
    model: text("model").notNull(),
    upstream: text("upstream"),
    state: modelCallState("state").notNull().default("open"),
    /** The status of the upstream's response. */
    status: integer("status"),
    /** Tokens that the upstream has reported; `input` includes `cached`. */
    input: bigint("input", { mode: "number" }).notNull().default(0),
    output: bigint("output", { mode: "number" }).notNull().default(0),
    cached: bigint("cached", { mode: "number" }).notNull().default(0),
    /** US dollars; of an unfinished call, an estimate. Null: the model has no prices. */
    cost: doublePrecision("cost"),
    startedAt: time("started_at").notNull().defaultNow(),
    endedAt: time("ended_at"),
  },
  (table) => [
    index("model_calls_account_id").on(table.accountId, table.startedAt),
    index("model_calls_project_id").on(table.projectId),
    index("model_calls_session_id").on(table.sessionId),
    index("model_calls_open").on(table.accountId).where(sql`${table.state} = 'open'`),
  ],
);

/** Totals of finished calls, by which budgets are checked: of an account and a project by month, of a session in all. */
export const modelSpend = pgTable(
  "model_spend",
  {
    /** The id of an account, project or session. */
    scope: text("scope").notNull(),
    /** The month in UTC, as `2026-11`; empty for a session. */
    period: text("period").notNull(),
    accountId: uuid("account_id")
      .notNull()
      .references(() => accounts.accountId, { onDelete: "cascade" }),
    calls: integer("calls").notNull(),
    input: bigint("input", { mode: "number" }).notNull(),
    output: bigint("output", { mode: "number" }).notNull(),
    cached: bigint("cached", { mode: "number" }).notNull(),
    /** US dollars of the calls with a known cost; null if no call had one. */
    cost: doublePrecision("cost"),
  },
  (table) => [primaryKey({ columns: [table.scope, table.period] })],
);

/** Services that run models: of a project, and of the server. */
export const modelUpstreams = pgTable(
  "model_upstreams",
  {
    /** Null: it serves all projects. */
    projectId: uuid("project_id").references(() => projects.projectId, { onDelete: "cascade" }),
    /** Its name in the project, or on the server. */
    upstreamId: text("upstream_id").notNull(),
    format: modelFormat("format").notNull(),
    url: text("url").notNull(),
    /** Sealed, bound to its project (or the server), name and URL. */
    key: text("key").notNull(),
    /** Null: it accepts any name. */
    models: json("models").$type<UpstreamModel[]>(),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    unique("model_upstreams_project_id_upstream_id_unique").on(table.projectId, table.upstreamId),
    uniqueIndex("model_upstreams_server_upstream_id")
      .on(table.upstreamId)
      .where(sql`${table.projectId} is null`),
  ],
);
