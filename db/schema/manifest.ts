import { sql } from "drizzle-orm";
import { index, integer, json, pgTable, text, uuid } from "drizzle-orm/pg-core";
import type { ManifestError } from "../../src/contract/manifest/manifest.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

/** What svc has seen of each project's default branch, and when it looks again. */
export const projectManifests = pgTable(
  "project_manifests",
  {
    projectId: uuid("project_id")
      .primaryKey()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    /** The commit whose manifest counts, and the svc that read it; null before the first look. */
    commit: text("commit"),
    reader: text("reader"),
    /** What is wrong with the manifest of that commit. */
    errors: json("errors").$type<ManifestError[]>().notNull().default([]),
    /** Why the last look has failed, in words for a person, and how many in a row have. */
    failure: text("failure"),
    failures: integer("failures").notNull().default(0),
    lookedAt: time("looked_at"),
    nextLookAt: time("next_look_at").notNull().default(sql`now()`),
    /** Counts the looks: only the last one that was begun may write what it has seen. */
    look: integer("look").notNull().default(0),
  },
  (table) => [index("project_manifests_next_look_at").on(table.nextLookAt)],
);
