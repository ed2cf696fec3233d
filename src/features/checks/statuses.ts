import { and, asc, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { commitStatuses } from "../../../db/schema/index.ts";
import type { CombinedStatus, CommitStatus, StatusState } from "../../contract/commit-status.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

type StatusRow = typeof commitStatuses.$inferSelect;
/** What a rule needs of a status. */
export type Reported = Pick<StatusRow, "sha" | "context" | "state">;

/** The statuses and the newest check runs of a commit, by context. Commits that the repository lacks have none. */
export async function combinedStatusOf(
  { db }: Pick<Deps, "db">,
  { projectId }: ProjectRow,
  sha: string,
): Promise<CombinedStatus> {
  const rows = await db
    .select()
    .from(commitStatuses)
    .where(and(eq(commitStatuses.projectId, projectId), eq(commitStatuses.sha, sha)))
    .orderBy(asc(commitStatuses.context), sql`${commitStatuses.checkRunId} nulls first`);
  return {
    sha,
    state: stateOf(rows.map(({ state }) => state)),
    total_count: rows.length,
    statuses: await toWire(db, rows),
  };
}

/** The states of several commits' contexts. */
export async function reportedOf(
  db: Db,
  projectId: string,
  shas: readonly (string | null)[],
): Promise<Reported[]> {
  const known = [...new Set(shas)].filter((sha) => sha !== null);
  if (known.length === 0) return [];
  return await ofMany(db).execute({ projectId, shas: JSON.stringify(known) });
}

const ofMany = prepared((db) =>
  db
    .select({ sha: commitStatuses.sha, context: commitStatuses.context, state: commitStatuses.state })
    .from(commitStatuses)
    .where(
      and(
        eq(commitStatuses.projectId, sql.placeholder("projectId")),
        sql`${commitStatuses.sha} in (select value from json_array_elements_text(${sql.placeholder("shas")}::json))`,
      ),
    )
    .prepare("statuses_of_commits"),
);

/** GitHub's rule: one that failed decides, then one that is pending; without any, the result is pending. */
export function stateOf(states: readonly StatusState[]): CombinedStatus["state"] {
  if (states.some(hasFailed)) return "failure";
  return states.length === 0 || states.includes("pending") ? "pending" : "success";
}

/** The state of what must all pass, such as a status and a check run of one name. @returns undefined: there is none */
export function worstOf(states: readonly StatusState[]): StatusState | undefined {
  return [...states].sort((a, b) => SEVERITY[b] - SEVERITY[a])[0];
}

/** The order in which one state outweighs another. */
export const SEVERITY = { success: 0, pending: 1, error: 2, failure: 3 } as const;

export const hasFailed = (state: StatusState): boolean => state === "failure" || state === "error";

export async function toWire(db: Db, rows: readonly StatusRow[]): Promise<CommitStatus[]> {
  const names = await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => ({
    id: row.statusId,
    sha: row.sha,
    state: row.state,
    context: row.context,
    description: row.description,
    target_url: row.targetUrl,
    check_run_id: row.checkRunId,
    from_host: row.fromHost,
    creator: row.createdBy === null ? null : authorOf(names, row.createdBy, row.createdActor),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }));
}
