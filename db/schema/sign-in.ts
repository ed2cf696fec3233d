import { sql } from "drizzle-orm";
import { check, index, integer, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { DEVICE_STATUSES } from "../../src/contract/device.ts";
import { LINK_KINDS } from "../../src/contract/sign-in.ts";
import { accounts, memberRole, users } from "./account.ts";
import { time } from "./time.ts";

/** Browsers that are signed in; each has its own secret in a cookie. */
export const browserSessions = pgTable(
  "browser_sessions",
  {
    /** HMAC-SHA256 of the cookie's secret, as of an API token. */
    hash: text("hash").primaryKey(),
    /** Its public id. */
    signInId: uuid("sign_in_id").notNull().defaultRandom().unique("browser_sessions_sign_in_id_unique"),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    /** The browser and the address at the sign-in; null: unknown. */
    userAgent: text("user_agent"),
    address: text("address"),
    createdAt: time("created_at").notNull().defaultNow(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [
    index("browser_sessions_user_id").on(table.userId),
    index("browser_sessions_expires_at").on(table.expiresAt),
  ],
);

export const linkKind = pgEnum("link_kind", LINK_KINDS);

/** One-time links: password resets and invitations. Using one deletes it. */
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
    /** Whom it invites; null: anyone with the link. */
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

/** Requests of the device flow (RFC 8628), deleted when they are used, or after ten minutes. */
export const deviceRequests = pgTable(
  "device_requests",
  {
    /** HMAC-SHA256 of the device code, as of an API token: the code is exchanged for the token. */
    hash: text("hash").primaryKey(),
    /** HMAC-SHA256 of the user code, which the user compares. */
    userCodeHash: text("user_code_hash").notNull().unique("device_requests_user_code_unique"),
    /** The name that the program gives itself. */
    label: text("label").notNull(),
    client: text("client"),
    /** The address that it requested from. */
    address: text("address").notNull(),
    status: deviceStatus("status").notNull().default("pending"),
    /** Who approved it, and the name of the new token. */
    userId: uuid("user_id").references(() => users.userId, { onDelete: "cascade" }),
    tokenName: text("token_name"),
    createdAt: time("created_at").notNull(),
    expiresAt: time("expires_at").notNull(),
    polledAt: time("polled_at"),
    /** The minimum number of seconds between two polls. */
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

/** Rate limits: the number of attempts, shared by all servers. */
export const attempts = pgTable(
  "attempts",
  {
    /** HMAC-SHA256 of the limit's name and the client: no address is stored in the clear. */
    key: text("key").primaryKey(),
    count: integer("count").notNull(),
    /** When the count resets. */
    until: time("until").notNull(),
  },
  (table) => [index("attempts_until").on(table.until)],
);
