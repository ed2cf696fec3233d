import type { Deps } from "../../deps.ts";
import { runPeriodically } from "../../jobs/periodic.ts";
import { newJobIn, placesOf, queueOf } from "../../jobs/places.ts";
import { dropOwnClaims } from "./claim.ts";
import { createConverger } from "./converge.ts";
import type { RunKinds } from "./kind.ts";
import { reconcile } from "./reconcile.ts";
import { takeOver } from "./take-over.ts";

/** Most of them wait: for other starts, or for a sandbox. */
const JOBS_AT_ONCE = 200;

/**
 * Works on this server's runs: their jobs, and a reconciliation with the sandboxes, every few seconds while there are any.
 * @returns stops the worker, and waits for the round in progress
 */
export async function startRunWorker(deps: Deps, kinds: RunKinds): Promise<() => Promise<void>> {
  await dropOwnClaims(deps);
  const converge = createConverger(deps, kinds);
  for (const place of placesOf(deps)) await deps.jobs.work(queueOf("runs", place), converge, JOBS_AT_ONCE);
  // the embedded database has no other servers, except those from before its data folder was copied or restored
  let takesOver = true;
  const wakers = placesOf(deps).map((place) => newJobIn(queueOf("runs", place)));
  return runPeriodically(deps, {
    subject: "runs",
    wakers,
    work: [
      async () => {
        if (takesOver) await takeOver(deps, kinds);
        takesOver = deps.databaseKind !== "embedded";
        return false;
      },
      () => reconcile(deps, kinds),
    ],
  });
}
