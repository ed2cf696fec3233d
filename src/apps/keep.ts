import { and, eq, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import { appDeployments, apps, projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { APPS_QUEUE } from "../jobs/places.ts";
import { settleApp } from "./settle.ts";
import { clearSites } from "./static/folder.ts";

/** A deployment that has had its time, and a job that was lost, are noticed after this long at most. */
const ROUND_MS = 5_000;
/** Files of sites that nobody is sent to any more take some room until then. */
const CLEAR_MS = 10 * 60_000;
/** Apps that are asked for in one round; the rest has its turn in the next. */
const ROUND = 200;

/**
 * Does the work of apps until it is stopped: their jobs, and a look every few seconds for those that need one.
 * @returns ends it, and waits for the round under way
 */
export async function keepApps(deps: Deps): Promise<() => Promise<void>> {
  await deps.jobs.work(APPS_QUEUE, (id) => settleApp(deps, id));
  const stopping = new AbortController();
  const rounds = loop(deps, stopping.signal);
  return async () => {
    stopping.abort();
    await rounds;
  };
}

async function loop(deps: Deps, signal: AbortSignal): Promise<void> {
  let clearAt = 0;
  while (!signal.aborted) {
    await askForUnsettled(deps).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "a look at the apps failed");
    });
    if (performance.now() > clearAt) {
      clearAt = performance.now() + CLEAR_MS;
      await clearSites(deps).catch((error: unknown) => deps.log.warn({ err: error }, "old sites are kept"));
    }
    await deps.changes.wait("apps", ROUND_MS, signal);
  }
}

/** Asks for the job of every app that is not as it is to be; where it has one already, that does nothing. */
async function askForUnsettled(deps: Deps): Promise<void> {
  const now = deps.clock();
  const isServed = eq(appDeployments.deploymentId, apps.liveId);
  const unsettled = await deps.db
    .selectDistinct({ appId: apps.appId })
    .from(apps)
    .leftJoin(appDeployments, eq(appDeployments.appId, apps.appId))
    .leftJoin(projectSessions, eq(projectSessions.sessionId, appDeployments.deploymentId))
    .where(
      or(
        isNotNull(apps.wantedId),
        and(wantsToRun, or(isNull(apps.consideredCommit), ne(apps.consideredCommit, apps.commit))),
        and(sql`not (${wantsToRun})`, isNotNull(apps.liveId)),
        lte(appDeployments.drainUntil, now),
        and(
          isServed,
          ne(projectSessions.status, "running"),
          ne(projectSessions.status, "provisioning"),
          sql`${appDeployments.entry}->'run' <> 'null'::jsonb`,
          or(isNull(appDeployments.restartAt), lte(appDeployments.restartAt, now)),
        ),
      ),
    )
    .limit(ROUND);
  for (const { appId } of unsettled) await deps.jobs.enqueue(deps.db, APPS_QUEUE, appId);
}

const wantsToRun = and(eq(apps.presence, "enabled"), eq(apps.isStopped, false));
