import { pgTable, text } from "drizzle-orm/pg-core";
import { time } from "./time.ts";

/** Facts about this installation, one a row. `master_key_fingerprint` guards against a lost or swapped master key. */
export const serverFacts = pgTable("server_facts", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** The servers of this installation, each by the id in its data folder: who of them lives. By the database's clock. */
export const servers = pgTable("servers", {
  id: text("id").primaryKey(),
  seenAt: time("seen_at").notNull().defaultNow(),
  /** Since when the server has been seen again and again: only who has watched all the while may call another gone. */
  steadySince: time("steady_since").notNull().defaultNow(),
  /** Since when it counts as gone; null again as soon as it is back. */
  goneAt: time("gone_at"),
});
