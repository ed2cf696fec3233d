import type { Deps } from "../../../deps.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { endPreviews } from "./end.ts";
import { createPreparation } from "./prepare.ts";

/** How long a new head may go unnoticed while there are others. */
const BUSY_MS = 1_000;

/**
 * Gives every open change request previews of the apps whose entry on the default branch says `previews = true`.
 *
 * 1. A new head adds or changes a row in `apps` that names the change request (`prepare.ts`). From then on it is an app: its
 *    job deploys it, restarts it and replaces it (`../reconcile.ts`), once there is room (`room.ts`).
 * 2. A row whose change request has ended, or whose app has no previews any more, is deleted with its sandboxes (`end.ts`).
 *
 * Each round compares the rows with the change requests, in the database alone: a server that was killed at any step leaves
 * what the next round of any server completes.
 *
 * @returns stops the worker, and waits for the round in progress
 */
export function startPreviewWorker(deps: Deps): () => Promise<void> {
  return runPeriodically(
    deps,
    {
      subject: "previews",
      wakers: ["change_request", "app"],
      work: [() => endPreviews(deps), createPreparation(deps)],
    },
    { busyMs: BUSY_MS },
  );
}
