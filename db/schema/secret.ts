import { pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
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
    /** Where it is injected: `sessions`, `builds`, `apps`, `apps:<slug>`, `triggers:<slug>` (contract: Secrets). */
    audience: text("audience").array().notNull().default(["sessions", "builds"]),
    /** Who set it last; null if that was not recorded. */
    setBy: uuid("set_by").references(() => users.userId, { onDelete: "set null" }),
    setActor: actor("set_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] })],
);
