import { sql } from "drizzle-orm";
import { index, integer, json, pgTable, text, uuid } from "drizzle-orm/pg-core";
import type { ManifestCheck, ManifestError } from "../../src/contract/manifest/manifest.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

/** The manifest of each project's default branch as it was last read, and when it is read again. */
export const projectManifests = pgTable(
  "project_manifests",
  {
    projectId: uuid("project_id")
      .primaryKey()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    /** The commit of the manifest in effect, and the version of svc that read it; null before the first read. */
    commit: text("commit"),
    reader: text("reader"),
    /** The errors of that manifest. */
    errors: json("errors").$type<ManifestError[]>().notNull().default([]),
    /** The checks of that manifest that svc runs itself. */
    checks: json("checks").$type<ManifestCheck[]>().notNull().default([]),
    /** Why the last read failed, as a message, and the number of failures in a row. */
    failure: text("failure"),
    failures: integer("failures").notNull().default(0),
    lookedAt: time("looked_at"),
    nextLookAt: time("next_look_at").notNull().default(sql`now()`),
    /** Counts the reads: only the one that was started last may write its result. */
    look: integer("look").notNull().default(0),
  },
  (table) => [index("project_manifests_next_look_at").on(table.nextLookAt)],
);
