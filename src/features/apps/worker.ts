import { and, eq, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import { appDeployments, apps, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { runPeriodically } from "../../jobs/periodic.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import { reconcileApp } from "./reconcile.ts";
import { clearSites } from "./static/folder.ts";

/** How often the files of ended deployments are deleted. */
const CLEAR_MS = 10 * 60_000;
/** Apps whose jobs are enqueued per round; the next round enqueues the rest. */
const BATCH = 200;

/**
 * Deploys apps and keeps them running: their jobs, and a round every few seconds that enqueues the jobs of unsettled
 * apps.
 * @returns stops the worker, and waits for the round in progress
 */
export async function startAppWorker(deps: Deps): Promise<() => Promise<void>> {
  await deps.jobs.work(APPS_QUEUE, (id) => reconcileApp(deps, id));
  let clearAt = 0;
  return runPeriodically(deps, "apps", [
    () => enqueueUnsettled(deps),
    async () => {
      if (performance.now() < clearAt) return;
      clearAt = performance.now() + CLEAR_MS;
      await clearSites(deps);
    },
  ]);
}

/** Enqueues the job of every app whose state is not its goal; a queued job is not queued twice. */
async function enqueueUnsettled(deps: Deps): Promise<void> {
  const now = deps.clock();
  const isServed = eq(appDeployments.deploymentId, apps.liveId);
  const unsettled = await deps.db
    .selectDistinct({ appId: apps.appId })
    .from(apps)
    .leftJoin(appDeployments, eq(appDeployments.appId, apps.appId))
    .leftJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(
      or(
        isNotNull(apps.wantedId),
        and(wantsToRun, or(isNull(apps.consideredCommit), ne(apps.consideredCommit, apps.commit))),
        and(sql`not (${wantsToRun})`, isNotNull(apps.liveId)),
        lte(appDeployments.drainUntil, now),
        and(
          isServed,
          ne(runs.status, "running"),
          ne(runs.status, "provisioning"),
          sql`${appDeployments.entry}->'run' <> 'null'::jsonb`,
          or(isNull(appDeployments.restartAt), lte(appDeployments.restartAt, now)),
        ),
      ),
    )
    .limit(BATCH);
  for (const { appId } of unsettled) await deps.jobs.enqueue(deps.db, APPS_QUEUE, appId);
}

const wantsToRun = and(eq(apps.presence, "enabled"), eq(apps.isStopped, false));
