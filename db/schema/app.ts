import { sql } from "drizzle-orm";
import {
  boolean,
  check,
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
import { actor } from "./actor.ts";
import { changeRequests } from "./change-request.ts";
import { previewRole } from "./preview.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const appPresence = pgEnum("app_presence", APP_PRESENCE);
export const deploymentState = pgEnum("deployment_state", DEPLOYMENT_STATES);
export const deployReason = pgEnum("deploy_reason", DEPLOY_REASONS);

/**
 * The apps of the last valid manifest on a project's default branch, and their previews in open change requests, which the
 * lists of a project's apps leave out.
 */
export const apps = pgTable(
  "apps",
  {
    appId: uuid("app_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    slug: text("slug").notNull(),
    /** Of a preview: its change request. */
    crId: uuid("cr_id").references(() => changeRequests.crId, { onDelete: "cascade" }),
    crNumber: integer("cr_number"),
    /** The first label of its host name. */
    label: text("label").notNull(),
    /** The entry to deploy, and its hash. */
    entry: jsonb("entry").$type<ManifestApp>().notNull(),
    entryHash: text("entry_hash").notNull(),
    /** The commit that the entry is from: of the default branch, or the head of the change request. */
    commit: text("commit").notNull(),
    presence: appPresence("presence").notNull(),
    /** A user stopped it: it stays stopped until it is deployed again. */
    isStopped: boolean("is_stopped").notNull().default(false),
    /** It was rolled back: commits do not deploy it until it is deployed on demand. */
    isPinned: boolean("is_pinned").notNull().default(false),
    /** The commit that was last checked for changes to deploy. */
    consideredCommit: text("considered_commit"),
    /** Numbers the deployments. */
    deploymentCount: integer("deployment_count").notNull().default(0),
    /** The deployment that is served, and the one that replaces it as soon as it answers. */
    liveId: text("live_id"),
    wantedId: text("wanted_id"),
    /** Of a preview: when somebody last used it, to the minute; null: nobody has. */
    visitedAt: time("visited_at"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("apps_project_id_slug").on(table.projectId, table.slug).where(sql`${table.crId} is null`),
    uniqueIndex("apps_cr_id_slug").on(table.crId, table.slug),
    uniqueIndex("apps_label").on(table.label),
    check("apps_preview_has_number", sql`(${table.crId} is null) = (${table.crNumber} is null)`),
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
    /** The git id of the folder at the entry's root in that commit; null: it did not exist. */
    tree: text("tree"),
    error: text("error"),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    createdActor: actor("created_actor"),
    /** The commit that was live when it was started. */
    previousCommit: text("previous_commit"),
    /** Of a rollback: the number of the deployment that it deploys again. */
    rollbackTo: integer("rollback_to"),
    /** The server that has the files of a built site; null: there are none, or git has them. */
    sitePlace: text("site_place"),
    /** The number of restarts since it last ran for a while, and the time of the next one. */
    restarts: integer("restarts").notNull().default(0),
    restartAt: time("restart_at"),
    /** When its sandbox is stopped: until then it finishes its requests. */
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
