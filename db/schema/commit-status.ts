import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { STATUS_STATES } from "../../src/contract/commit-status.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { changeRequests } from "./change-request.ts";
import { checkRuns } from "./check-run.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const commitStatusState = pgEnum("commit_status_state", STATUS_STATES);

/** The last result of each check of a commit. */
export const commitStatuses = pgTable(
  "commit_statuses",
  {
    statusId: uuid("status_id").primaryKey().defaultRandom(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    sha: text("sha").notNull(),
    /** The name of the check. */
    context: text("context").notNull(),
    state: commitStatusState("state").notNull(),
    description: text("description"),
    targetUrl: text("target_url"),
    /** The newest run of this name; null: it was reported as a status. A commit may have both, and then both count. */
    checkRunId: bigint("check_run_id", { mode: "number" }).references(() => checkRuns.checkRunId, {
      onDelete: "cascade",
    }),
    /** It was read from the git host. */
    fromHost: boolean("from_host").notNull().default(false),
    /** When it is reported to the git host; null: there is nothing to report. */
    reportDueAt: time("report_due_at"),
    reportFailures: integer("report_failures").notNull().default(0),
    /** Null: svc itself ran the check, or the git host did. */
    createdBy: uuid("created_by").references(() => users.userId),
    createdActor: actor("created_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("commit_statuses_context").on(
      table.projectId,
      table.sha,
      table.context,
      sql`(${table.checkRunId} is not null)`,
    ),
    index("commit_statuses_check_run_id").on(table.checkRunId).where(sql`${table.checkRunId} is not null`),
    index("commit_statuses_report_due").on(table.reportDueAt).where(sql`${table.reportDueAt} is not null`),
  ],
);

/** When the checks of a change request's head are read from its git host next. */
export const hostReads = pgTable(
  "host_reads",
  {
    crId: uuid("cr_id")
      .primaryKey()
      .references(() => changeRequests.crId, { onDelete: "cascade" }),
    /** When its head moved last. */
    since: time("since").notNull(),
    /** Null: not before the head moves, or it is reopened. */
    dueAt: time("due_at"),
    failures: integer("failures").notNull().default(0),
  },
  (table) => [index("host_reads_due").on(table.dueAt).where(sql`${table.dueAt} is not null`)],
);
