import { index, integer, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const previewRole = pgEnum("preview_role", ["user", "agent"]);

/** Links that sign one browser in to a port of a session's sandbox. Using one removes it. */
export const previewLinks = pgTable(
  "preview_links",
  {
    /** HMAC-SHA256 of the link's token, as of an API token. */
    hash: text("hash").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    port: integer("port").notNull(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    role: previewRole("role").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [index("preview_links_session_id").on(table.sessionId)],
);
