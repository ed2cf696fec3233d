import { bigserial, index, jsonb, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { TIMELINE_EVENTS, type TimelineData } from "../../src/contract/timeline.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { changeRequests } from "./change-request.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const timelineEvent = pgEnum("timeline_event", TIMELINE_EVENTS);

/** What has happened to a change request, in order: its timeline. */
export const changeRequestEvents = pgTable(
  "change_request_events",
  {
    eventId: bigserial("event_id", { mode: "number" }).primaryKey(),
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    event: timelineEvent("event").notNull(),
    /** Null: svc itself, or not known. */
    userId: uuid("user_id").references(() => users.userId),
    actor: actor("actor"),
    data: jsonb("data").$type<TimelineData>().notNull().default({}),
    createdAt: time("created_at").notNull(),
  },
  (table) => [index("change_request_events_cr_id").on(table.crId, table.eventId)],
);

/** Who pushed each branch last through svc, and to which commit. */
export const branchPushes = pgTable(
  "branch_pushes",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    branch: text("branch").notNull(),
    commitSha: text("commit_sha").notNull(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    actor: actor("actor"),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.branch] })],
);
