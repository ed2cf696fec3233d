import { pgTable, text } from "drizzle-orm/pg-core";
import { time } from "./time.ts";

/** Facts about this installation, one per row. `master_key_fingerprint` detects a lost or changed master key. */
export const serverFacts = pgTable("server_facts", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** The heartbeats of this installation's servers, by the id in each data folder and the database's clock. */
export const servers = pgTable("servers", {
  id: text("id").primaryKey(),
  seenAt: time("seen_at").notNull().defaultNow(),
  /** The start of its unbroken heartbeats: only a server that has run long enough may declare another gone. */
  steadySince: time("steady_since").notNull().defaultNow(),
  /** When it was declared gone; null again when it is back. */
  goneAt: time("gone_at"),
});
