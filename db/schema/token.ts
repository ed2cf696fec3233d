import { sql } from "drizzle-orm";
import { check, index, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { DEFAULT_SCOPES, SCOPES } from "../../src/contract/scope.ts";
import { users } from "./account.ts";
import { projects } from "./project.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const tokenScope = pgEnum("token_scope", SCOPES);

/** User tokens have no project; project tokens have one (spec 2.5). */
export const tokens = pgTable(
  "tokens",
  {
    tokenId: uuid("token_id").primaryKey().defaultRandom(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    projectId: uuid("project_id").references(() => projects.projectId, { onDelete: "cascade" }),
    sessionId: text("session_id").references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** What it may do at most. */
    scopes: tokenScope("scopes")
      .array()
      .notNull()
      .default([...DEFAULT_SCOPES]),
    /** HMAC-SHA256 of the token under a key derived from the master key, in hex. */
    hash: text("hash").notNull().unique("tokens_hash_unique"),
    createdAt: time("created_at").notNull().defaultNow(),
    lastUsedAt: time("last_used_at"),
    expiresAt: time("expires_at"),
  },
  (table) => [
    index("tokens_user_id").on(table.userId),
    index("tokens_project_id").on(table.projectId),
    index("tokens_session_id").on(table.sessionId),
    check("tokens_session_needs_project", sql`${table.sessionId} is null or ${table.projectId} is not null`),
  ],
);
