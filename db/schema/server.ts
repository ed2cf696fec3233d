import { pgTable, text } from "drizzle-orm/pg-core";

/** Facts about this installation, one a row. `master_key_fingerprint` guards against a lost or swapped master key. */
export const serverFacts = pgTable("server_facts", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});
