import { sql } from "drizzle-orm";
import {
  bigserial,
  index,
  integer,
  json,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { ASK_STATES, CALL_OUTCOMES, CONNECTOR_TYPES, POLICY_ACTIONS } from "../../src/contract/connector.ts";
import type { ConnectorPolicy } from "../../src/contract/manifest/connectors.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const connectorType = pgEnum("connector_type", CONNECTOR_TYPES);
export const policyAction = pgEnum("policy_action", POLICY_ACTIONS);
export const connectorOutcome = pgEnum("connector_outcome", CALL_OUTCOMES);
export const askState = pgEnum("connector_ask_state", ASK_STATES);

/** The connectors of the manifests on the default branches. */
export const connectors = pgTable(
  "connectors",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    /** Its position in the file. */
    position: integer("position").notNull(),
    type: connectorType("type").notNull(),
    url: text("url"),
    spec: text("spec"),
    auth: text("auth"),
    authHeader: text("auth_header"),
    policies: json("policies").$type<ConnectorPolicy[]>().notNull(),
    /** The commit of the manifest, which also has the file that `spec` names. */
    commit: text("commit").notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.slug] })],
);

/** The secrets that connectors name, those of invalid entries included: no sandbox gets them. */
export const connectorSecrets = pgTable(
  "connector_secrets",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    name: text("name").notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] })],
);

/** Recent calls of the tools of connectors: who called what, without arguments and results. */
export const connectorCalls = pgTable(
  "connector_calls",
  {
    callId: uuid("call_id").primaryKey().defaultRandom(),
    /** Orders the calls of a project. */
    seq: bigserial("seq", { mode: "number" }).notNull(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    connector: text("connector").notNull(),
    tool: text("tool").notNull(),
    action: policyAction("action").notNull(),
    outcome: connectorOutcome("outcome").notNull(),
    error: text("error"),
    userId: uuid("user_id").references(() => users.userId, { onDelete: "set null" }),
    actor: actor("actor"),
    durationMs: integer("duration_ms"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [index("connector_calls_project_id_seq").on(table.projectId, table.seq)],
);

/** Calls that a policy lets a person decide on. A decision is for one call with the same arguments. */
export const connectorAsks = pgTable(
  "connector_asks",
  {
    askId: uuid("ask_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    /** Null for a token without a session. */
    sessionId: text("session_id").references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    userId: uuid("user_id").references(() => users.userId, { onDelete: "cascade" }),
    actor: actor("actor"),
    connector: text("connector").notNull(),
    tool: text("tool").notNull(),
    /** JSON, as the person sees it. */
    arguments: text("arguments").notNull(),
    /** Identifies the caller and the call: a repeated call finds its question. */
    digest: text("digest").notNull(),
    state: askState("state").notNull().default("pending"),
    answeredBy: uuid("answered_by").references(() => users.userId, { onDelete: "set null" }),
    message: text("message"),
    createdAt: time("created_at").notNull().defaultNow(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("connector_asks_project_id").on(table.projectId, table.createdAt),
    uniqueIndex("connector_asks_digest")
      .on(table.digest)
      .where(sql`${table.state} in ('pending', 'approved')`),
  ],
);

/** The access to connectors that a person has consented to (OAuth). */
export const connectorGrants = pgTable(
  "connector_grants",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    /** The connector's URL at the consent: the tokens are sent to no other. */
    url: text("url").notNull(),
    /** Sealed, bound to project, connector and URL: the registration and the tokens. */
    grant: text("grant").notNull(),
    /** When the access token expires; null: unknown. */
    expiresAt: time("expires_at"),
    /** Until when a server refreshes the token. */
    refreshingUntil: time("refreshing_until"),
    connectedBy: uuid("connected_by").references(() => users.userId, { onDelete: "set null" }),
    connectedAt: time("connected_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.slug] })],
);

/** Requests for consent that were sent to a browser, and wait for its return. */
export const connectorConsents = pgTable(
  "connector_consents",
  {
    /** HMAC-SHA256 of the `state`, as of a token. */
    state: text("state").primaryKey(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    url: text("url").notNull(),
    /** Only this person can complete it. */
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    /** Sealed, bound to the state: the registration, and the verifier of PKCE. */
    pending: text("pending").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [index("connector_consents_project_id").on(table.projectId)],
);
