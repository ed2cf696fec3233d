import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { CHECK_STATES } from "../../src/contract/check.ts";
import type { ManifestCheck } from "../../src/contract/manifest/manifest.ts";
import { projects } from "./project.ts";
import { runs } from "./run.ts";
import { time } from "./time.ts";

export const checkState = pgEnum("check_state", CHECK_STATES);

/** The checks that svc runs itself: one of each name and commit. Its results are commit statuses, too. */
export const checks = pgTable(
  "checks",
  {
    checkId: uuid("check_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    sha: text("sha").notNull(),
    name: text("name").notNull(),
    /** The entry of the manifest on the default branch when it was enqueued. */
    entry: jsonb("entry").$type<ManifestCheck>().notNull(),
    /** A branch that has the commit, to clone. */
    headRef: text("head_ref").notNull(),
    state: checkState("state").notNull().default("queued"),
    description: text("description"),
    attempt: integer("attempt").notNull().default(1),
    /** The run of this attempt, from its start on; null again when the run and its log are deleted. */
    runId: text("run_id").references(() => runs.runId, { onDelete: "set null" }),
    createdAt: time("created_at").notNull().defaultNow(),
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
  },
  (table) => [
    uniqueIndex("checks_name").on(table.projectId, table.sha, table.name),
    index("checks_run_id").on(table.runId),
    index("checks_open").on(table.createdAt).where(sql`${table.endedAt} is null`),
  ],
);
