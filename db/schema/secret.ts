import { pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const projectSecrets = pgTable(
  "project_secrets",
  {
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** Sealed: AES-256-GCM under the project's own key, bound to project and name. */
    value: text("value").notNull(),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] })],
);
