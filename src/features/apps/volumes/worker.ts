import type { Deps } from "../../../deps.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { removeUnused } from "./clean.ts";
import { enforceQuota } from "./quota.ts";

/**
 * Works on the volumes on this server's machine.
 *
 * 1. A volume without an app is removed (`clean.ts`): its project or change request has ended, or a user removed it. Only a row
 *    leads to a removal, so that a server with another database removes nothing.
 * 2. Those in use are measured, and the deployment of one that is too large is stopped (`quota.ts`).
 *
 * @returns stops the worker, and waits for the round in progress
 */
export function startVolumeWorker(deps: Deps): () => Promise<void> {
  return runPeriodically(deps, {
    subject: VOLUME_WORK,
    wakers: ["app"],
    work: [() => removeUnused(deps), () => enforceQuota(deps)],
  });
}

/** The name in `changes` that begins a round of the worker. */
export const VOLUME_WORK = "volumes";
