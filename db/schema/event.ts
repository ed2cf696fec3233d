import { sql } from "drizzle-orm";
import { bigint, index, integer, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { EVENT_ACTIONS, EVENT_TYPES } from "../../src/contract/event.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const eventType = pgEnum("event_type", EVENT_TYPES);
export const eventAction = pgEnum("event_action", EVENT_ACTIONS);

/**
 * Numbers a project's events. The row is locked from the moment a number is taken until the commit, so that events
 * become visible in the order of their numbers, without a gap.
 */
export const projectEventHeads = pgTable("project_event_heads", {
  projectId: uuid("project_id")
    .primaryKey()
    .references(() => projects.projectId, { onDelete: "cascade" }),
  seq: bigint("seq", { mode: "number" }).notNull(),
});

/** Recent changes in a project. It references the head, which the writer has locked, not the project. */
export const projectEvents = pgTable(
  "project_events",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projectEventHeads.projectId, { onDelete: "cascade" }),
    seq: bigint("seq", { mode: "number" }).notNull(),
    type: eventType("type").notNull(),
    /** The id of the changed object; for a branch or a secret, its name. */
    subject: text("subject").notNull(),
    number: integer("number"),
    action: eventAction("action").notNull(),
    at: time("at").notNull().default(sql`clock_timestamp()`),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.seq] }), index("project_events_at").on(table.at)],
);
