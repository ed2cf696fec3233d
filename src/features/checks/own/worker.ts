import type { Deps } from "../../../deps.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { cancelChecks } from "./cancel.ts";
import { clearChecks } from "./clear.ts";
import { enqueueChecks } from "./enqueue.ts";
import { settleChecks } from "./settle.ts";
import { startChecks } from "./start.ts";

/** How long the end of a check may go unnoticed. */
const BUSY_MS = 1_000;
/** How often old checks are deleted. */
const CLEAR_MS = 10 * 60_000;

/**
 * Runs the checks of the manifest on every new head of an open change request, in rounds, every second while there are any.
 * All state is in the database and changes by guarded updates, so any number of servers may do it at once, and one that
 * was killed leaves nothing behind but a check that the next round takes up.
 *
 * 1. A new head enqueues the checks (`enqueue.ts`), and cancels those of the head before it (`cancel.ts`).
 * 2. The oldest start, up to the limit of the account: each has a run (`start.ts`), which `features/runs` brings to life.
 * 3. The daemon clones, checks out the commit and runs the command. `settle.ts` records what it reports, and stops the run,
 *    which keeps the end of its output as the log.
 *
 * @returns stops the worker, and waits for the round in progress
 */
export function startCheckWorker(deps: Deps): () => Promise<void> {
  let clearAt = 0;
  return runPeriodically(
    deps,
    {
      subject: "checks",
      wakers: ["change_request", "check"],
      work: [
        () => enqueueChecks(deps),
        async () => {
          await cancelChecks(deps);
          return false;
        },
        () => startChecks(deps),
        () => settleChecks(deps),
        async () => {
          if (performance.now() < clearAt) return false;
          clearAt = performance.now() + CLEAR_MS;
          await clearChecks(deps);
          return false;
        },
      ],
    },
    { busyMs: BUSY_MS },
  );
}
