import { and, asc, eq, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import { apps, runs, volumes } from "../../../../db/schema/index.ts";
import { sizeText } from "../../../contract/size.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { endDeployment } from "../end.ts";
import { appChange, deployCommand, lockApp } from "../rows.ts";
import type { VolumeRow } from "./take.ts";

/** Between two measurements of a volume, and from the start of a deployment to the first: it has this long to make room. */
const MEASURE_MS = 60_000;
/** How much of a volume is counted, in multiples of the limit. */
const COUNTED = 2;
/** Volumes that are measured per round; the next round measures the rest. */
const BATCH = 20;

/**
 * Measures the volumes of deployments that run, and stops those whose volume is larger than `SVC_VOLUME_MAX_BYTES`. The size
 * is not enforced by the file system: a program may exceed it until the next measurement.
 * @returns whether there may be more that are due
 */
export async function enforceQuota(deps: Deps): Promise<boolean> {
  const due = new Date(deps.clock().getTime() - MEASURE_MS);
  const rows = await deps.db
    .select({ volume: volumes })
    .from(volumes)
    .innerJoin(runs, eq(runs.runId, volumes.runId))
    .where(
      and(
        isNotNull(volumes.appId),
        eq(volumes.place, deps.serverId),
        eq(runs.status, "running"),
        or(isNull(volumes.measuredAt), lte(volumes.measuredAt, due)),
      ),
    )
    .orderBy(asc(sql`coalesce(${volumes.measuredAt}, ${volumes.createdAt})`))
    .limit(BATCH);
  for (const { volume } of rows) await measure(deps, volume);
  return rows.length === BATCH;
}

async function measure(deps: Deps, volume: VolumeRow): Promise<void> {
  const { volumeMaxBytes: max } = deps.config;
  const bytes =
    (await deps.sandboxes.get(volume.provider)?.volumes?.measure(volume.volumeId, max * COUNTED)) ?? null;
  await deps.db
    .update(volumes)
    .set({ bytes, measuredAt: deps.clock() })
    .where(eq(volumes.volumeId, volume.volumeId));
  if (bytes === null || bytes <= max) return;
  const stopped = await stopDeployment(deps, volume, bytes);
  if (stopped !== null) deps.changes.notify(stopped);
}

/** @returns the id of the run that stops; null: another deployment has the volume by now */
async function stopDeployment(deps: Deps, { volumeId, appId, runId }: VolumeRow, bytes: number) {
  return await deps.db.transaction(async (tx) => {
    const app = appId === null ? null : await lockApp(tx, appId);
    const isSame = and(eq(volumes.volumeId, volumeId), eq(volumes.runId, runId ?? ""));
    if (!app || runId === null || (await tx.$count(volumes, isSame)) === 0) return null;
    if (runId !== app.liveId && runId !== app.wantedId) return null;
    const limit = sizeText(deps.config.volumeMaxBytes);
    const sentence = `The volume has ${sizeText(bytes)}; the limit is ${limit} (SVC_VOLUME_MAX_BYTES). To start the app again, which has a minute to remove files: ${deployCommand(app)}`;
    await endDeployment(deps, tx, runId, "failed", sentence);
    const cleared = runId === app.liveId ? { liveId: null } : { wantedId: null };
    await tx
      .update(apps)
      .set({ ...cleared, updatedAt: deps.clock() })
      .where(eq(apps.appId, app.appId));
    await publish(tx, app.projectId, appChange(app));
    return runId;
  });
}
