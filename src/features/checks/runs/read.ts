import { and, asc, desc, eq, inArray, isNotNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequests, checkRuns, commitStatuses } from "../../../../db/schema/index.ts";
import type { CheckRun, CheckRunList, RunStatus } from "../../../contract/check-run.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { authorOf, namesOf } from "../../../identity/auth/actor.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { type Addressed, publicUrl } from "../../../identity/auth/public-url.ts";
import { pageUrl } from "../../projects/page-url.ts";
import type { RunRow } from "./values.ts";

type Reading = Addressed & Pick<Deps, "db">;

/** @param id digits. @throws not_found */
export async function findRun(db: Db, { projectId }: ProjectRow, id: string): Promise<RunRow> {
  const isIt = and(eq(checkRuns.projectId, projectId), eq(checkRuns.checkRunId, Number(id)));
  const [run] = await db.select().from(checkRuns).where(isIt);
  if (run) return run;
  throw new SvcError(
    "not_found",
    `Check run ${id} not found in this project. svc keeps the newest of each commit and name.`,
  );
}

/** What to list of a commit's check runs. */
export interface RunFilter {
  name: string | undefined;
  status: RunStatus | undefined;
  /** Not only the newest of each name. */
  all: boolean;
  limit: number;
  offset: number;
}

/** The check runs of a commit, by name, the newest first. Commits that the repository lacks have none. */
export async function listRuns(
  deps: Reading,
  project: ProjectRow,
  sha: string,
  { name, status, all, limit, offset }: RunFilter,
): Promise<CheckRunList> {
  const { db } = deps;
  const { projectId } = project;
  const newest = db
    .select({ id: commitStatuses.checkRunId })
    .from(commitStatuses)
    .where(
      and(
        eq(commitStatuses.projectId, projectId),
        eq(commitStatuses.sha, sha),
        isNotNull(commitStatuses.checkRunId),
      ),
    );
  const isListed = and(
    eq(checkRuns.projectId, projectId),
    eq(checkRuns.sha, sha),
    name === undefined ? undefined : eq(checkRuns.name, name),
    status && eq(checkRuns.status, status),
    all ? undefined : inArray(checkRuns.checkRunId, newest),
  );
  const [total, rows] = await Promise.all([
    db.$count(checkRuns, isListed),
    db
      .select()
      .from(checkRuns)
      .where(isListed)
      .orderBy(asc(checkRuns.name), desc(checkRuns.checkRunId))
      .limit(limit)
      .offset(offset),
  ]);
  return { total_count: total, check_runs: await allToWire(deps, project, sha, rows) };
}

export async function toWire(deps: Reading, project: ProjectRow, run: RunRow): Promise<CheckRun> {
  const [shown] = await allToWire(deps, project, run.sha, [run]);
  if (!shown) throw new Error("a check run was left out");
  return shown;
}

async function allToWire(
  deps: Reading,
  project: ProjectRow,
  sha: string,
  rows: readonly RunRow[],
): Promise<CheckRun[]> {
  const creators = rows.map(({ createdBy }) => createdBy);
  const [names, page] = await Promise.all([namesOf(deps.db, creators), pageOfCommit(deps, project, sha)]);
  return rows.map((run) => {
    const url = `${publicUrl(deps)}/v1/projects/${project.projectId}/check-runs/${run.checkRunId}`;
    return {
      id: run.checkRunId,
      head_sha: run.sha,
      name: run.name,
      external_id: run.externalId,
      url,
      html_url: page,
      details_url: run.detailsUrl,
      status: run.status,
      conclusion: run.conclusion,
      started_at: run.startedAt?.toISOString() ?? null,
      completed_at: run.completedAt?.toISOString() ?? null,
      output: {
        title: run.title,
        summary: run.summary,
        text: run.text,
        annotations_count: run.annotationsCount,
        annotations_url: `${url}/annotations`,
      },
      ...{ check_suite: null, app: null, pull_requests: [] },
      creator: authorOf(names, run.createdBy, run.createdActor),
    };
  });
}

/** The page of the newest change request with this head commit; null: there is none. */
export async function pageOfCommit(deps: Reading, project: ProjectRow, sha: string): Promise<string | null> {
  const { projectId, headCommitSha, number } = changeRequests;
  const [cr] = await deps.db
    .select({ number })
    .from(changeRequests)
    .where(and(eq(projectId, project.projectId), eq(headCommitSha, sha)))
    .orderBy(desc(number))
    .limit(1);
  return cr ? pageUrl(deps, project, `change-requests/${cr.number}`) : null;
}
