import { foreignKey, index, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { accountMembers, users } from "./account.ts";
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
    /** Where it is injected: `sessions`, `builds`, `apps`, `apps:<slug>`, `previews`, `triggers:<slug>` (contract: Secrets). */
    audience: text("audience").array().notNull().default(["sessions", "builds"]),
    /** Who set it last; null if that was not recorded. */
    setBy: uuid("set_by").references(() => users.userId, { onDelete: "set null" }),
    setActor: actor("set_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.projectId, table.name] })],
);

/** Secrets that a person holds, for the sessions that they start. */
export const ownSecrets = pgTable(
  "own_secrets",
  {
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    name: text("name").notNull(),
    /** Sealed: AES-256-GCM under the person's own key, bound to person and name. */
    value: text("value").notNull(),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.name] })],
);

/** The projects whose sessions get a person's secret. It ends with the membership in the project's account. */
export const ownSecretProjects = pgTable(
  "own_secret_projects",
  {
    userId: uuid("user_id").notNull(),
    name: text("name").notNull(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    accountId: uuid("account_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.name, table.projectId] }),
    foreignKey({
      columns: [table.userId, table.name],
      foreignColumns: [ownSecrets.userId, ownSecrets.name],
      name: "own_secret_projects_secret_fk",
    }).onDelete("cascade"),
    foreignKey({
      columns: [table.accountId, table.userId],
      foreignColumns: [accountMembers.accountId, accountMembers.userId],
      name: "own_secret_projects_member_fk",
    }).onDelete("cascade"),
    index("own_secret_projects_project_id").on(table.projectId),
    index("own_secret_projects_member").on(table.accountId, table.userId),
  ],
);
