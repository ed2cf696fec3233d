import { and, asc, eq, inArray, isNotNull, isNull, lt, ne, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { appDeployments, apps, projects, runs } from "../../../../db/schema/index.ts";
import { LIVE_STATUSES } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { lockAccount } from "../../../identity/accounts/lock.ts";
import { APPS_QUEUE } from "../../../jobs/places.ts";
import { type AppRow, appChange, hasSandbox } from "../rows.ts";

/** A preview that nobody has used for this long makes room for another one. */
const IDLE_MS = 30 * 60_000;

/**
 * Whether a preview may have a sandbox now: a project runs a limited number at once (`SVC_PREVIEW_CAP`). Apps have their
 * own limit (`create.ts`).
 * @param tx locks the account until its end, so that two previews cannot take the last slot
 */
export async function hasRoom(deps: Pick<Deps, "config">, tx: Db, app: AppRow): Promise<boolean> {
  if (app.crId === null || !hasSandbox(app.entry)) return true;
  await lockAccountOf(tx, app);
  return await isRoom(deps, tx, app);
}

/** The same for a reader: it locks nothing, so that it may have changed right after. */
export async function isRoom({ config }: Pick<Deps, "config">, tx: Db, app: AppRow): Promise<boolean> {
  if (app.crId === null || !hasSandbox(app.entry)) return true;
  return (await othersThatRun(tx, app)).length < config.previewCap;
}

/**
 * Stops the preview that nobody has used for the longest time, if another one needs its slot and it is idle. The slot is free
 * once its sandbox has ended.
 */
export async function makeRoom(deps: Deps, app: AppRow): Promise<void> {
  if (app.crId === null || !hasSandbox(app.entry)) return;
  await deps.db.transaction(async (tx) => {
    await lockAccountOf(tx, app);
    const others = await othersThatRun(tx, app);
    const staying = others.filter(({ isStopped, presence }) => !isStopped && presence === "enabled");
    if (staying.length < deps.config.previewCap) return;
    const idleSince = new Date(deps.clock().getTime() - IDLE_MS);
    const lastUse = sql`greatest(${apps.visitedAt}, ${appDeployments.liveAt})`;
    const [idle] = await tx
      .select({ appId: apps.appId })
      .from(apps)
      .innerJoin(appDeployments, eq(appDeployments.deploymentId, apps.liveId))
      .where(
        and(
          inArray(
            apps.appId,
            staying.map(({ appId }) => appId),
          ),
          isNull(apps.wantedId),
          lt(lastUse, idleSince.toISOString()),
        ),
      )
      .orderBy(asc(lastUse))
      .limit(1)
      // one that is being changed is not waited for: the next attempt finds it
      .for("update", { of: apps, skipLocked: true });
    if (!idle) return;
    const [stopped] = await tx
      .update(apps)
      .set({ isStopped: true, updatedAt: deps.clock() })
      .where(eq(apps.appId, idle.appId))
      .returning();
    if (!stopped) return;
    await deps.jobs.enqueue(tx, APPS_QUEUE, stopped.appId);
    await publish(tx, stopped.projectId, appChange(stopped));
  });
}

async function lockAccountOf(tx: Db, { projectId }: AppRow): Promise<void> {
  const [project] = await tx.select().from(projects).where(eq(projects.projectId, projectId));
  if (project) await lockAccount(tx, project.accountId);
}

/** The project's previews that have a sandbox, except this one. */
async function othersThatRun(
  tx: Db,
  { projectId, appId }: Pick<AppRow, "projectId" | "appId">,
): Promise<Pick<AppRow, "appId" | "isStopped" | "presence">[]> {
  return await tx
    .selectDistinct({ appId: apps.appId, isStopped: apps.isStopped, presence: apps.presence })
    .from(apps)
    .innerJoin(appDeployments, eq(appDeployments.appId, apps.appId))
    .innerJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(
      and(
        eq(apps.projectId, projectId),
        isNotNull(apps.crId),
        ne(apps.appId, appId),
        inArray(runs.status, [...LIVE_STATUSES]),
      ),
    );
}
