import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError } from "../provider.ts";
import type { Cluster } from "./cluster.ts";
import { statusOf } from "./failure.ts";
import { findObjects } from "./found.ts";
import { nameOf } from "./objects.ts";

const POLL_MS = 250;
/** For a node to end a pod and to say so, after the grace. */
const NODE_MS = 30_000;
/** For the API server to let go of what no node has to end. */
const LET_GO_MS = 15_000;

/**
 * Deletes a sandbox's objects: the pod first, so that the others hold as long as it runs.
 * @throws SandboxError when it is still there after the grace and some time more
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
      // its node may be gone for good
      await deleted(core.deleteNamespacedPod({ ...named, gracePeriodSeconds: 0 }));
      if (!(await within(LET_GO_MS, isGone)))
        throw new SandboxError("The sandbox's pod cannot be ended: its node does not answer.");
    }
  }
  await deleted(core.deleteNamespacedService(named));
  await deleted(core.deleteNamespacedSecret(named));
  await deleted(networking.deleteNamespacedNetworkPolicy(named));
  if (!(await within(LET_GO_MS, async () => (await find()) === null)))
    throw new SandboxError(
      "The sandbox has ended, but not all of its objects in the cluster can be deleted.",
    );
}

/** What is not there any more is no error. */
async function deleted(deletion: Promise<unknown>): Promise<void> {
  try {
    await deletion;
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}

/** Asks again and again whether something is so, for as long. */
async function within(milliseconds: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + milliseconds;
  while (!(await isSo())) {
    if (performance.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}
