import { index, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
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
