import { sql } from "drizzle-orm";
import {
  bigint,
  bigserial,
  check,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { ANNOTATION_LEVELS, CONCLUSIONS, RUN_STATUSES } from "../../src/contract/check-run.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const checkRunStatus = pgEnum("check_run_status", RUN_STATUSES);
export const checkRunConclusion = pgEnum("check_run_conclusion", CONCLUSIONS);
export const annotationLevel = pgEnum("annotation_level", ANNOTATION_LEVELS);

/** Runs of checks that were reported to svc. The newest of a commit and name is a commit status, too. */
export const checkRuns = pgTable(
  "check_runs",
  {
    /** A number, since clients of GitHub's API expect one. */
    checkRunId: bigserial("check_run_id", { mode: "number" }).primaryKey(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    sha: text("sha").notNull(),
    name: text("name").notNull(),
    status: checkRunStatus("status").notNull(),
    conclusion: checkRunConclusion("conclusion"),
    detailsUrl: text("details_url"),
    externalId: text("external_id"),
    title: text("title"),
    summary: text("summary"),
    text: text("text"),
    annotationsCount: integer("annotations_count").notNull().default(0),
    startedAt: time("started_at"),
    completedAt: time("completed_at"),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    createdActor: actor("created_actor"),
  },
  (table) => [
    index("check_runs_name").on(table.projectId, table.sha, table.name, table.checkRunId),
    check("check_runs_conclusion", sql`(${table.status} = 'completed') = (${table.conclusion} is not null)`),
  ],
);

/** What a check run says of lines of files. */
export const checkRunAnnotations = pgTable(
  "check_run_annotations",
  {
    checkRunId: bigint("check_run_id", { mode: "number" })
      .notNull()
      .references(() => checkRuns.checkRunId, { onDelete: "cascade" }),
    /** Its place among those of the run, from 0. */
    place: integer("place").notNull(),
    path: text("path").notNull(),
    startLine: integer("start_line").notNull(),
    endLine: integer("end_line").notNull(),
    startColumn: integer("start_column"),
    endColumn: integer("end_column"),
    level: annotationLevel("level").notNull(),
    title: text("title"),
    message: text("message").notNull(),
    rawDetails: text("raw_details"),
  },
  (table) => [primaryKey({ columns: [table.checkRunId, table.place] })],
);
