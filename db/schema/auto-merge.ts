import { integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { changeRequests, mergeMethod } from "./change-request.ts";
import { mergeWish } from "./merge-wish.ts";
import { time } from "./time.ts";

/** The merge of an open change request that svc does once checks and approvals allow it. */
export const autoMerges = pgTable("auto_merges", {
  crId: uuid("cr_id")
    .primaryKey()
    .references(() => changeRequests.crId, { onDelete: "cascade" }),
  ...mergeWish(),
  /** Null: the project's default at the time of the merge. */
  method: mergeMethod("method"),
  createdAt: time("created_at").notNull(),
  /** Why svc turned it off; null: it is on. */
  offReason: text("off_reason"),
  /** Failures in a row of a merge that nothing but the failure kept from happening. */
  failures: integer("failures").notNull().default(0),
  /** When to try although the stored rules do not allow it, or after a failure. */
  dueAt: time("due_at").notNull(),
});
