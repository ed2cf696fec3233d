import { sql } from "drizzle-orm";
import { bigserial, boolean, index, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { changeRequests, mergeMethod } from "./change-request.ts";
import { mergeWish } from "./merge-wish.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

/** The change requests in the merge queues of their bases, and those that svc has taken out, with the reason. */
export const mergeQueueEntries = pgTable(
  "merge_queue_entries",
  {
    crId: uuid("cr_id")
      .primaryKey()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    baseRef: text("base_ref").notNull(),
    /** Orders the queue. */
    place: bigserial("place", { mode: "number" }).notNull(),
    ...mergeWish(),
    method: mergeMethod("method").notNull(),
    queuedAt: time("queued_at").notNull(),
    /** Why svc took it out; null: it is in the queue. */
    outReason: text("out_reason"),
    /** The merged result that is tested, what it was built on, and the message of its merge; null: none yet. */
    testedSha: text("tested_sha"),
    parentSha: text("parent_sha"),
    mergeMessage: text("merge_message"),
    fastForward: boolean("fast_forward").notNull().default(false),
    builtAt: time("built_at"),
    /** The result whose own checks were enqueued last. */
    checkedSha: text("checked_sha"),
    /** When the checks of the git host are read next; null: at once. */
    hostDueAt: time("host_due_at"),
  },
  (table) => [
    index("merge_queue_entries_queued")
      .on(table.projectId, table.baseRef, table.place)
      .where(sql`${table.outReason} is null`),
    index("merge_queue_entries_tested").on(table.projectId, table.testedSha),
  ],
);

/** Branches that svc may have pushed for the tests of a queue, recorded before the push: they are deleted after their use. */
export const mergeQueueBranches = pgTable(
  "merge_queue_branches",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    branch: text("branch").notNull(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.branch] })],
);
