import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, runs } from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { setGoal } from "../runs/goal.ts";
import { deploymentRuns } from "./kind.ts";
import { recordDeploymentEvent } from "./webhook.ts";

/**
 * Ends a deployment, and its sandbox with it.
 * @param tx has the app's row locked
 */
export async function endDeployment(
  deps: Deps,
  tx: Db,
  deploymentId: string,
  state: "retired" | "failed" | "stopped",
  error: string | null,
): Promise<void> {
  await tx
    .update(appDeployments)
    .set({ state, error, endedAt: deps.clock(), restartAt: null, drainUntil: null })
    .where(eq(appDeployments.deploymentId, deploymentId));
  if (state !== "retired") await recordDeploymentEvent(deps, tx, deploymentId, `deployment.${state}`);
  await stopSandbox(deps, tx, deploymentId);
}

/** Requests that the sandbox of a deployment stops, if it runs. */
export async function stopSandbox(deps: Deps, tx: Db, deploymentId: string): Promise<void> {
  const [run] = await tx.select().from(runs).where(eq(runs.runId, deploymentId));
  if (run && isAlive(run))
    await setGoal(deps, tx, deploymentRuns, deploymentId, { goal: "stopped", stopReason: "user" });
}
