import { and, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { checkRuns, commitStatuses } from "../../../../db/schema/index.ts";
import {
  type CheckRun,
  type Conclusion,
  type CreateCheckRunBody,
  RUNS_KEPT,
  STATE_OF_CONCLUSION,
  type UpdateCheckRunBody,
} from "../../../contract/check-run.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import { actorOf } from "../../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { lockProject } from "../../projects/lock.ts";
import { resolveRef } from "../../repository/resolve.ts";
import { shortened } from "../describe.ts";
import { detailsChanged, recordStatus } from "../record-status.ts";
import { requireReportable, requireReporter } from "../reportable.ts";
import { addAnnotations, annotationsOf } from "./annotations.ts";
import { findRun, toWire } from "./read.ts";
import { invalid, NEW_RUN, type RunRow, stored, valuesOf } from "./values.ts";

/**
 * Adds a run of a check on a commit. It counts from now on instead of earlier runs of that name, of which some are kept.
 * Agents cannot report: they would pass their own work. Checks that svc runs itself cannot be reported.
 * @throws forbidden, validation_failed, ref_not_found, repo_unreachable
 */
export async function createCheckRun(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: CreateCheckRunBody,
): Promise<CheckRun> {
  requireReporter(caller);
  const values = valuesOf(body, NEW_RUN, deps.clock());
  const annotations = annotationsOf(body.output);
  const name = stored("name", body.name) ?? "";
  const { commit: sha } = await resolveRef(deps, project, body.head_sha);
  const { projectId } = project;
  const by = { createdBy: caller.userId, createdActor: actorOf(caller) };
  const run = await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    // any number: there is one status for the runs of a name
    await requireReportable(tx, { projectId, sha, context: name, checkRunId: 0 });
    const [added] = await tx
      .insert(checkRuns)
      .values({ ...values, ...by, projectId, sha, name })
      .returning();
    if (!added) throw new Error("the insert of a check run returned no row");
    const run = await addAnnotations(tx, added, annotations);
    const changes = await recordRun(deps, tx, run, caller);
    await deleteOld(tx, run);
    await publish(tx, projectId, ...changes);
    return run;
  });
  return await toWire(deps, project, run);
}

/**
 * Changes a check run: what is left out stays, and annotations are added. One that is not the newest of its name changes
 * without an effect on merges.
 * @throws forbidden, not_found, validation_failed
 */
export async function updateCheckRun(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  id: string,
  body: UpdateCheckRunBody,
): Promise<CheckRun> {
  requireReporter(caller);
  const annotations = annotationsOf(body.output);
  const { projectId } = project;
  const run = await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const known = await findRun(tx, project, id);
    if (body.name !== undefined && body.name !== known.name)
      throw invalid("name", "cannot be changed. Create another check run");
    const values = valuesOf(body, known, deps.clock());
    await tx.update(checkRuns).set(values).where(eq(checkRuns.checkRunId, known.checkRunId));
    const run = await addAnnotations(tx, { ...known, ...values }, annotations);
    const changes = await recordRun(deps, tx, run, caller);
    await publish(tx, projectId, ...changes);
    return run;
  });
  return await toWire(deps, project, run);
}

/** Records the state of the newest run of a name as that of the check. @returns as `recordStatus` */
async function recordRun(deps: Deps, tx: Db, run: RunRow, caller: Caller): Promise<ProjectChange[]> {
  const { projectId, sha, name, checkRunId } = run;
  const isNew = (await newestOf(tx, run, 1))[0] === checkRunId;
  if (!isNew) return [];
  const [known] = await tx.select().from(commitStatuses).where(eq(commitStatuses.checkRunId, checkRunId));
  const { state, description, targetUrl } = statusOf(run);
  if (known?.state === state && known.description === description && known.targetUrl === targetUrl)
    return await detailsChanged(tx, projectId, sha);
  const { changes } = await recordStatus(
    deps,
    tx,
    { projectId, sha, context: name, checkRunId },
    {
      ...{ state, description, targetUrl, fromHost: false },
      ...{ createdBy: caller.userId, createdActor: actorOf(caller) },
    },
  );
  return changes;
}

/** The ids of the newest runs of a commit and name, the newest first. */
async function newestOf(
  tx: Db,
  of: Pick<RunRow, "projectId" | "sha" | "name">,
  limit: number,
): Promise<number[]> {
  const { projectId, sha, name, checkRunId } = checkRuns;
  const rows = await tx
    .select({ checkRunId })
    .from(checkRuns)
    .where(and(eq(projectId, of.projectId), eq(sha, of.sha), eq(name, of.name)))
    .orderBy(desc(checkRunId))
    .limit(limit);
  return rows.map((row) => row.checkRunId);
}

async function deleteOld(tx: Db, run: RunRow): Promise<void> {
  // each request adds one
  const old = (await newestOf(tx, run, RUNS_KEPT + 1)).slice(RUNS_KEPT);
  if (old.length > 0) await tx.delete(checkRuns).where(inArray(checkRuns.checkRunId, old));
}

/** A check run in the terms of commit statuses. */
function statusOf({ conclusion, title, detailsUrl }: RunRow) {
  const words = title || (conclusion === null ? null : WORDS[conclusion]);
  return {
    state: conclusion === null ? "pending" : STATE_OF_CONCLUSION[conclusion],
    description: words === null ? null : shortened(words),
    targetUrl: detailsUrl,
  };
}

/** Of conclusions that the state does not say. */
const WORDS: Readonly<Record<Conclusion, string | null>> = {
  success: null,
  failure: null,
  neutral: "Neutral",
  cancelled: "Cancelled",
  skipped: "Skipped",
  timed_out: "Timed out",
  action_required: "Action required",
  stale: "Stale",
};
