import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { appDeployments, apps } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { setGoal } from "../../runs/goal.ts";
import { endDeployment } from "../end.ts";
import { deploymentRuns } from "../kind.ts";
import { type AppRow, appChange, lockApp } from "../rows.ts";
import { isUnwanted } from "./wanted.ts";

/** Previews per round; the next round takes the rest. */
const BATCH = 100;

/**
 * Ends the previews that are no longer wanted, and deletes them with their sandboxes and logs.
 * @returns whether there were any
 */
export async function endPreviews(deps: Deps): Promise<boolean> {
  const found = await deps.db
    .select({ appId: apps.appId })
    .from(apps)
    .where(isUnwanted(deps.db))
    .limit(BATCH);
  for (const { appId } of found) {
    const ended = await deps.db.transaction((tx) => end(deps, tx, appId));
    for (const id of ended) deps.changes.notify(id);
    await deps.checkpoint("preview-ended");
  }
  return found.length > 0;
}

/** @returns the ids of its deployments */
async function end(deps: Deps, tx: Db, appId: string): Promise<string[]> {
  const app = await lockApp(tx, appId);
  // it may be wanted again, such as after a change request was reopened
  const isIt = and(eq(apps.appId, appId), isUnwanted(tx));
  if (!app || (await tx.$count(apps, isIt)) === 0) return [];
  const deployments = await tx
    .select({ id: appDeployments.deploymentId })
    .from(appDeployments)
    .where(eq(appDeployments.appId, appId));
  const ids = deployments.map(({ id }) => id);
  await endServed(deps, tx, app);
  for (const id of ids) await setGoal(deps, tx, deploymentRuns, id, { goal: "deleted" });
  await tx.delete(apps).where(eq(apps.appId, appId));
  await publish(tx, app.projectId, appChange(app, "deleted"));
  return ids;
}

async function endServed(deps: Deps, tx: Db, { liveId, wantedId }: AppRow): Promise<void> {
  for (const id of [liveId, wantedId])
    if (id !== null) await endDeployment(deps, tx, id, "stopped", "The preview has ended.");
}
