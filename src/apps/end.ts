import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { appDeployments, projectSessions } from "../../db/schema/index.ts";
import { isAlive } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { aim } from "../sessions/goal.ts";

/**
 * Ends a deployment, and its sandbox with it.
 * @param tx holds the app's row
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
  await endItsSandbox(deps, tx, deploymentId);
}

/** Asks for the sandbox of a deployment to be stopped, if it has one that runs. */
export async function endItsSandbox(deps: Deps, tx: Db, deploymentId: string): Promise<void> {
  const [session] = await tx
    .select()
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, deploymentId));
  if (session && isAlive(session)) await aim(deps, tx, deploymentId, { goal: "stopped", stopReason: "user" });
}
