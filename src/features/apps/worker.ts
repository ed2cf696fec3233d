import { and, eq, gt, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import { appDeployments, apps, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { runPeriodically } from "../../jobs/periodic.ts";
import { APPS_QUEUE, newJobIn } from "../../jobs/places.ts";
import { reconcileApp } from "./reconcile.ts";
import { clearSites } from "./static/folder.ts";

/** How often the files of ended deployments are deleted. */
const CLEAR_MS = 10 * 60_000;
/** Apps whose jobs are enqueued per round; the next round enqueues the rest. */
const BATCH = 200;

/**
 * Deploys apps and keeps them running: their jobs, and rounds that enqueue the jobs of unsettled apps, every few
 * seconds while there are any.
 * @returns stops the worker, and waits for the round in progress
 */
export async function startAppWorker(deps: Deps): Promise<() => Promise<void>> {
  await deps.jobs.work(APPS_QUEUE, (id) => reconcileApp(deps, id));
  let clearAt = 0;
  return runPeriodically(deps, {
    subject: "apps",
    wakers: [newJobIn(APPS_QUEUE)],
    work: [
      () => enqueueUnsettled(deps),
      async () => {
        if (performance.now() < clearAt) return false;
        clearAt = performance.now() + CLEAR_MS;
        await clearSites(deps);
        return false;
      },
    ],
  });
}

/**
 * Enqueues the job of every app whose state is not its goal; a queued job is not queued twice.
 * @returns whether there are any, now or at a time that is known
 */
async function enqueueUnsettled(deps: Deps): Promise<boolean> {
  const now = deps.clock();
  const isServed = eq(appDeployments.deploymentId, apps.liveId);
  const isDead = and(
    isServed,
    ne(runs.status, "running"),
    ne(runs.status, "provisioning"),
    sql`${appDeployments.entry}->'run' <> 'null'::jsonb`,
  );
  const isDue = or(
    isNotNull(apps.wantedId),
    and(wantsToRun, or(isNull(apps.consideredCommit), ne(apps.consideredCommit, apps.commit))),
    and(sql`not (${wantsToRun})`, isNotNull(apps.liveId)),
    lte(appDeployments.drainUntil, now),
    and(isDead, or(isNull(appDeployments.restartAt), lte(appDeployments.restartAt, now))),
  );
  const isLater = or(gt(appDeployments.drainUntil, now), and(isDead, gt(appDeployments.restartAt, now)));
  const unsettled = await deps.db
    .selectDistinct({ appId: apps.appId, isDue: sql<boolean>`coalesce(${isDue}, false)` })
    .from(apps)
    .leftJoin(appDeployments, eq(appDeployments.appId, apps.appId))
    .leftJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(or(isDue, isLater))
    .limit(BATCH);
  for (const { appId, isDue } of unsettled) if (isDue) await deps.jobs.enqueue(deps.db, APPS_QUEUE, appId);
  return unsettled.length > 0;
}

const wantsToRun = and(eq(apps.presence, "enabled"), eq(apps.isStopped, false));
