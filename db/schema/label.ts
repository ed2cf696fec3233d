import { index, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { changeRequests } from "./change-request.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

/** The labels that change requests of a project can have. */
export const labels = pgTable(
  "labels",
  {
    labelId: uuid("label_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** The name in lower case, by which it is found. */
    key: text("key").notNull(),
    /** Six hex digits in lower case. */
    color: text("color").notNull(),
    description: text("description"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [uniqueIndex("labels_project_id_key_unique").on(table.projectId, table.key)],
);

export const changeRequestLabels = pgTable(
  "change_request_labels",
  {
    crId: uuid("cr_id")
      .notNull()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    labelId: uuid("label_id")
      .notNull()
      .references(() => labels.labelId, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.crId, table.labelId] }),
    // the change requests that have a label
    index("change_request_labels_label_id").on(table.labelId, table.crId),
  ],
);
