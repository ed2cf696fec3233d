import { sql } from "drizzle-orm";
import {
  bigint,
  bigserial,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { actor } from "./actor.ts";

/**
 * The audit log. There are no foreign keys: entries stay when what they are about is deleted. A trigger of the migration
 * refuses every change but two: a new entry gets its position in the chain of hashes, once, and a transaction that sets
 * `svc.audit_retention` may delete.
 */
export const auditEvents = pgTable(
  "audit_events",
  {
    auditId: bigserial("audit_id", { mode: "number" }).primaryKey(),
    /** Whose managers see it: of the account that was changed, or those that the person belonged to. */
    accountIds: uuid("account_ids").array().notNull(),
    projectId: uuid("project_id"),
    action: text("action").notNull(),
    target: text("target").notNull(),
    targetId: text("target_id"),
    /** The person, as they were then. Null: svc itself, an operator on the server's machine, or somebody unknown. */
    userId: uuid("user_id"),
    userName: text("user_name"),
    userEmail: text("user_email"),
    actor: actor("actor"),
    tokenId: uuid("token_id"),
    address: text("address"),
    requestId: text("request_id"),
    details: jsonb("details").$type<Record<string, unknown>>().notNull().default({}),
    /** Milliseconds, as in the API: the hash covers all of it. */
    createdAt: timestamp("created_at", { withTimezone: true, precision: 3 })
      .notNull()
      .default(sql`clock_timestamp()`),
    /** The position in the chain, the hash of the position before and its own, in hex; null until the entry is sealed. */
    position: bigint("position", { mode: "number" }).unique("audit_events_position_unique"),
    previousHash: text("previous_hash"),
    hash: text("hash"),
  },
  (table) => [
    index("audit_events_account_ids").using("gin", table.accountIds),
    index("audit_events_created_at").on(table.createdAt),
    index("audit_events_unsealed").on(table.auditId).where(sql`${table.position} is null`),
    check(
      "audit_events_sealed_whole",
      sql`num_nulls(${table.position}, ${table.previousHash}, ${table.hash}) in (0, 3)`,
    ),
  ],
);

/** The end of the chain: one row, which the server that seals entries has locked. */
export const auditHead = pgTable(
  "audit_head",
  {
    id: integer("id").primaryKey(),
    position: bigint("position", { mode: "number" }).notNull(),
    hash: text("hash").notNull(),
  },
  (table) => [check("audit_head_one_row", sql`${table.id} = 1`)],
);
