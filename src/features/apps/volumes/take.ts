import { eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { runs, volumes } from "../../../../db/schema/index.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { goneSince } from "../../../jobs/gone.ts";
import { placeOf } from "../../../jobs/places.ts";
import type { RunRow } from "../../runs/row.ts";
import type { AppRow, DeploymentRow } from "../rows.ts";

export type VolumeRow = typeof volumes.$inferSelect;

export type Take =
  | { kind: "taken"; volume: VolumeRow }
  /** The run of another deployment has it. */
  | { kind: "busy"; run: RunRow }
  /** Its server is gone: the reason, as a sentence. */
  | { kind: "gone"; error: string };

/** Whether a deployment needs the volume of its app. */
export function usesVolume({ entry }: Pick<DeploymentRow, "entry">): boolean {
  return entry.run?.volume !== undefined;
}

/**
 * Takes the volume of an app for the run of a deployment that is about to start. Only one run has it at a time: until its
 * sandbox has ended, no other one can take it. The first deployment that needs a volume creates it, on this server.
 * @param tx has the app's row locked
 */
export async function takeVolume(deps: Deps, tx: Db, { appId }: AppRow, runId: string): Promise<Take> {
  const provider = deps.sandboxes.defaultName;
  await tx
    .insert(volumes)
    .values({ appId, provider, place: placeOf(deps, provider) })
    .onConflictDoNothing();
  const [volume] = await tx.select().from(volumes).where(eq(volumes.appId, appId)).for("update");
  if (!volume) throw new Error("the insert of a volume added no row");
  if (volume.runId !== null && volume.runId !== runId) {
    const [run] = await tx.select().from(runs).where(eq(runs.runId, volume.runId));
    if (run && isAlive(run)) return { kind: "busy", run };
  }
  const since = await goneSince(deps, tx, volume.place);
  if (since) return { kind: "gone", error: goneText(since) };
  // it is measured after a while (`quota.ts`)
  if (volume.runId !== runId)
    await tx
      .update(volumes)
      .set({ runId, measuredAt: deps.clock() })
      .where(eq(volumes.volumeId, volume.volumeId));
  return { kind: "taken", volume };
}

function goneText(since: Date): string {
  return `The app's volume is on the machine of a server that has not sent a heartbeat since ${since.toISOString()}. Start that server, then deploy the app again.`;
}
