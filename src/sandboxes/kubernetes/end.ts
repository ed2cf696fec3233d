import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../provider.ts";
import type { Cluster } from "./cluster.ts";
import { statusOf } from "./failure.ts";
import { findObjects } from "./found.ts";
import { nameOf } from "./objects.ts";

const POLL_MS = 250;
/** For a node to end a pod and to report it, after the grace period. */
const NODE_MS = 30_000;
/** For the API server to delete an object that no node has to end. */
const DELETE_MS = 15_000;

/**
 * Deletes a sandbox's objects: the pod first, since the others (the network policy) protect it while it runs.
 * @throws SandboxError when it still exists some time after the grace period
 */
export async function endSandbox(
  cluster: Cluster,
  installation: string,
  sessionId: string,
  graceMs: number,
): Promise<void> {
  const { core, networking, namespace } = cluster;
  const find = async () => (await findObjects(cluster, installation, sessionId))[0] ?? null;
  const named = { name: nameOf(installation, sessionId), namespace };
  const found = await find();
  if (!found) return;
  if (found.pod) {
    const gracePeriodSeconds = Math.ceil(graceMs / 1000);
    await deleted(core.deleteNamespacedPod({ ...named, gracePeriodSeconds }));
    const isGone = async () => !(await find())?.pod;
    if (!(await within(graceMs + NODE_MS, isGone))) {
      // its node may be lost
      await deleted(core.deleteNamespacedPod({ ...named, gracePeriodSeconds: 0 }));
      if (!(await within(DELETE_MS, isGone)))
        throw new SandboxError("Cannot end the sandbox's pod: its node does not respond.");
    }
  }
  await deleted(core.deleteNamespacedService(named));
  await deleted(core.deleteNamespacedSecret(named));
  await deleted(networking.deleteNamespacedNetworkPolicy(named));
  if (!(await within(DELETE_MS, async () => (await find()) === null)))
    throw new SandboxError(
      "The sandbox has ended, but not all of its objects in the cluster can be deleted.",
    );
}

/** Ignores 404. */
async function deleted(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}

/** Polls a condition. @returns whether it became true in time */
async function within(milliseconds: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + milliseconds;
  while (!(await isSo())) {
    if (performance.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}
