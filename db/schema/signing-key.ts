import { bigserial, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { time } from "./time.ts";

/** Public keys that verify the commits of a user. Several users may have the same: the committer's address decides. */
export const signingKeys = pgTable(
  "signing_keys",
  {
    /** A number, since clients of GitHub's API expect one. */
    keyId: bigserial("key_id", { mode: "number" }).primaryKey(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    /** `<type> <base64>`, without a comment. */
    key: text("key").notNull(),
    title: text("title").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("signing_keys_user_id_key").on(table.userId, table.key),
    index("signing_keys_key").on(table.key),
  ],
);
