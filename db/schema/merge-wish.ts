import { boolean, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { actor } from "./actor.ts";

/** The columns of a merge that somebody asked for and svc does later: what is merged, and as whom. */
export const mergeWish = () => ({
  /** The head that is merged, and no other. */
  headSha: text("head_sha").notNull(),
  message: text("message"),
  deleteBranch: boolean("delete_branch").notNull(),
  userId: uuid("user_id")
    .notNull()
    .references(() => users.userId),
  /** The project token that asked for it, which may be deleted since; null: a person did. */
  tokenId: uuid("token_id"),
  actor: actor("actor"),
});
