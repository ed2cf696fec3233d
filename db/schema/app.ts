import {
  boolean,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { APP_PRESENCE, DEPLOY_REASONS, DEPLOYMENT_STATES } from "../../src/contract/app.ts";
import type { ManifestApp } from "../../src/contract/manifest/manifest.ts";
import { users } from "./account.ts";
import { previewRole } from "./preview.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const appPresence = pgEnum("app_presence", APP_PRESENCE);
export const deploymentState = pgEnum("deployment_state", DEPLOYMENT_STATES);
export const deployReason = pgEnum("deploy_reason", DEPLOY_REASONS);

/** The apps of a project's manifest, as its default branch had them last. */
export const apps = pgTable(
  "apps",
  {
    appId: uuid("app_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    /** The first label of the name that it is served at. */
    label: text("label").notNull(),
    /** The entry as it is to be deployed, and its hash. */
    entry: jsonb("entry").$type<ManifestApp>().notNull(),
    entryHash: text("entry_hash").notNull(),
    /** The commit of the default branch that the entry is from. */
    commit: text("commit").notNull(),
    presence: appPresence("presence").notNull(),
    /** Somebody has stopped it: it stays so until somebody deploys it. */
    isStopped: boolean("is_stopped").notNull().default(false),
    /** The commit whose tree was last looked at, for whether there is something to deploy. */
    consideredCommit: text("considered_commit"),
    /** Numbers the deployments. */
    deploymentCount: integer("deployment_count").notNull().default(0),
    /** What is served, and what is to be served as soon as it answers. */
    liveId: text("live_id"),
    wantedId: text("wanted_id"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("apps_project_id_slug").on(table.projectId, table.slug),
    uniqueIndex("apps_label").on(table.label),
  ],
);

/** The deployments of an app. One that has a sandbox shares its id with a run. */
export const appDeployments = pgTable(
  "app_deployments",
  {
    deploymentId: text("deployment_id").primaryKey(),
    appId: uuid("app_id")
      .notNull()
      .references(() => apps.appId, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    state: deploymentState("state").notNull(),
    reason: deployReason("reason").notNull(),
    commit: text("commit").notNull(),
    entry: jsonb("entry").$type<ManifestApp>().notNull(),
    entryHash: text("entry_hash").notNull(),
    /** The id of what stands at the entry's root in that commit; null: nothing did. */
    tree: text("tree"),
    error: text("error"),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    /** The server that has the files of a site that was built; null: there are none, or git has them. */
    sitePlace: text("site_place"),
    /** How often it was started again since it last served for a while, and when it is the next time. */
    restarts: integer("restarts").notNull().default(0),
    restartAt: time("restart_at"),
    /** Its sandbox is ended then: requests that it is still answering have so long. */
    drainUntil: time("drain_until"),
    createdAt: time("created_at").notNull().defaultNow(),
    liveAt: time("live_at"),
    endedAt: time("ended_at"),
  },
  (table) => [uniqueIndex("app_deployments_app_id_number").on(table.appId, table.number)],
);

/** Links that sign one browser in to an app. Using one removes it. */
export const appLinks = pgTable(
  "app_links",
  {
    /** HMAC-SHA256 of the link's token, as of an API token. */
    hash: text("hash").primaryKey(),
    appId: uuid("app_id")
      .notNull()
      .references(() => apps.appId, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    role: previewRole("role").notNull(),
    expiresAt: time("expires_at").notNull(),
  },
  (table) => [index("app_links_app_id").on(table.appId)],
);
