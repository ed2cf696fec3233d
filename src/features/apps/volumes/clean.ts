import { and, eq, isNull } from "drizzle-orm";
import { runs, volumes } from "../../../../db/schema/index.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import type { VolumeRow } from "./take.ts";

/** Volumes per round; the next round takes the rest. */
const BATCH = 20;

/**
 * Removes volumes without an app, and then their rows, so that one is removed again if the server is killed in between.
 * @returns whether there are any that wait for their sandboxes to end
 */
export async function removeUnused(deps: Deps): Promise<boolean> {
  const unused = await deps.db
    .select()
    .from(volumes)
    .where(and(isNull(volumes.appId), eq(volumes.place, deps.serverId)))
    .limit(BATCH);
  let waits = unused.length === BATCH;
  for (const volume of unused) {
    const provider = deps.sandboxes.get(volume.provider);
    // the operator may enable its provider again
    if (!provider?.volumes) continue;
    if (await isInUse(deps, volume)) {
      waits = true;
      continue;
    }
    await provider.volumes.remove(volume.volumeId);
    await deps.checkpoint("volume-removed");
    await deps.db.delete(volumes).where(eq(volumes.volumeId, volume.volumeId));
  }
  return waits;
}

async function isInUse(deps: Deps, { runId, provider }: VolumeRow): Promise<boolean> {
  if (runId === null) return false;
  const [run] = await deps.db.select().from(runs).where(eq(runs.runId, runId));
  if (run && isAlive(run)) return true;
  return (await deps.sandboxes.get(provider)?.find(runId)) != null;
}
