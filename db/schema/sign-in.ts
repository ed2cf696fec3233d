import { sql } from "drizzle-orm";
import { check, index, integer, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { DEVICE_STATUSES } from "../../src/contract/device.ts";
import { LINK_KINDS } from "../../src/contract/sign-in.ts";
import { accounts, memberRole, users } from "./account.ts";
import { time } from "./time.ts";

/** Browsers that are signed in; each has the secret of its own in a cookie. */
export const browserSessions = pgTable(
  "browser_sessions",
  {
    /** HMAC-SHA256 of the cookie's secret, as of an API token. */
    hash: text("hash").primaryKey(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    createdAt: time("created_at").notNull().defaultNow(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("browser_sessions_user_id").on(table.userId),
    index("browser_sessions_expires_at").on(table.expiresAt),
  ],
);

export const linkKind = pgEnum("link_kind", LINK_KINDS);

/** Links that a person is handed, and that do one thing once. Using one removes it. */
export const links = pgTable(
  "links",
  {
    linkId: uuid("link_id").primaryKey().defaultRandom(),
    /** HMAC-SHA256 of the link's token, as of an API token. */
    hash: text("hash").notNull().unique("links_hash_unique"),
    kind: linkKind("kind").notNull(),
    /** Whose password it sets. */
    userId: uuid("user_id").references(() => users.userId, { onDelete: "cascade" }),
    /** Where it invites to. */
    accountId: uuid("account_id").references(() => accounts.accountId, { onDelete: "cascade" }),
    role: memberRole("role"),
    /** Whom it invites; null: whoever has the link. */
    email: text("email"),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "cascade" }),
    createdAt: time("created_at").notNull().defaultNow(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("links_user_id").on(table.userId),
    index("links_account_id").on(table.accountId),
    index("links_created_by").on(table.createdBy),
    index("links_expires_at").on(table.expiresAt),
    check("links_password_has_user", sql`(${table.kind} = 'password') = (${table.userId} is not null)`),
    check(
      "links_invitation_has_account",
      sql`(${table.kind} = 'invitation') = (${table.accountId} is not null and ${table.role} is not null)`,
    ),
  ],
);

export const deviceStatus = pgEnum("device_status", DEVICE_STATUSES);

/** Programs that ask to be signed in by a browser elsewhere (RFC 8628); gone when they have been, or after ten minutes. */
export const deviceRequests = pgTable(
  "device_requests",
  {
    /** HMAC-SHA256 of the device code, as of an API token: who has that gets the token. */
    hash: text("hash").primaryKey(),
    /** The same of the code that people compare. */
    userCodeHash: text("user_code_hash").notNull().unique("device_requests_user_code_unique"),
    /** What the program says of itself. */
    label: text("label").notNull(),
    client: text("client"),
    /** Where it asked from. */
    address: text("address").notNull(),
    status: deviceStatus("status").notNull().default("pending"),
    /** Who has approved, and the name of the token to be. */
    userId: uuid("user_id").references(() => users.userId, { onDelete: "cascade" }),
    tokenName: text("token_name"),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    polledAt: time("polled_at"),
    /** Seconds that it has to wait between two polls. */
    intervalS: integer("interval_s").notNull(),
  },
  (table) => [
    index("device_requests_user_id").on(table.userId),
    index("device_requests_expires_at").on(table.expiresAt),
    check(
      "device_requests_approved_by_somebody",
      sql`(${table.status} = 'approved') = (${table.userId} is not null and ${table.tokenName} is not null)`,
    ),
  ],
);

/** How often something was tried that may be tried only so often, by all servers together. */
export const attempts = pgTable(
  "attempts",
  {
    /** HMAC-SHA256 of what is tried and by whom: no address of a person is kept. */
    key: text("key").primaryKey(),
    count: integer("count").notNull(),
    /** From then on it counts from nothing. */
    until: time("until").notNull(),
  },
  (table) => [index("attempts_until").on(table.until)],
);
