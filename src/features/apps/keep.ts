import { and, eq, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import { appDeployments, apps, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { runPeriodically } from "../../jobs/periodic.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import { settleApp } from "./settle.ts";
import { clearSites } from "./static/folder.ts";

/** Files of sites that nobody is sent to any more take some room until then. */
const CLEAR_MS = 10 * 60_000;
/** Apps that are asked for in one round; the rest has its turn in the next. */
const ROUND = 200;

/**
 * Deploys and serves apps until it is stopped: their jobs, and a round every few seconds for those that need one.
 * @returns ends it, and waits for the round under way
 */
export async function keepApps(deps: Deps): Promise<() => Promise<void>> {
  await deps.jobs.work(APPS_QUEUE, (id) => settleApp(deps, id));
  let clearAt = 0;
  return runPeriodically(deps, "apps", [
    () => askForUnsettled(deps),
    async () => {
      if (performance.now() < clearAt) return;
      clearAt = performance.now() + CLEAR_MS;
      await clearSites(deps);
    },
  ]);
}

/** Asks for the job of every app that is not as it is to be; where it has one already, that does nothing. */
async function askForUnsettled(deps: Deps): Promise<void> {
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
    .limit(ROUND);
  for (const { appId } of unsettled) await deps.jobs.enqueue(deps.db, APPS_QUEUE, appId);
}

const wantsToRun = and(eq(apps.presence, "enabled"), eq(apps.isStopped, false));
