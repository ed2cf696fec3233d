import { isNotNull, min } from "drizzle-orm";
import { triggers } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { ROUND_MS, runRounds } from "../../jobs/rounds.ts";
import { writeDue } from "./due.ts";
import { fireWaiting } from "./fire.ts";
import { skipStale, trimFirings } from "./stale.ts";

/** The longest time between two rounds while firings wait for a session slot, and after an error. */
const WAITING_MS = 3_000;
/** The shortest time between two rounds. */
const ROUND_MIN_MS = 20;
const TRIM_MS = 10 * 60_000;
/** How long a shutdown waits for the round in progress. Another server repeats work that was not committed. */
const END_MS = 5_000;

/**
 * Fires due triggers, together with all other servers of the database, whose clock decides.
 *
 * 1. `due.ts` locks due rows and skips those that another server has locked. One transaction writes the firing, with
 *    the id of its session and the rendered prompt, and advances the trigger. Of the times that were missed, the last
 *    one fires if it is recent; the others become one row.
 * 2. A webhook and a manual firing write the same kind of row. Its key is unique: a due time, or a delivery.
 * 3. `fire.ts` creates the session and marks the firing, in one transaction. When the account is at its cap, all of
 *    it is rolled back and retried at the next change of a session, and every few seconds. A trigger's row is locked
 *    before a firing's, and a manifest's before a trigger's.
 *
 * @returns stops the scheduler
 */
export function startTriggerScheduler(deps: Deps): () => Promise<void> {
  const stop = runRounds(deps, {
    subject: "triggers",
    wakers: ["trigger", "session"],
    async round(signal) {
      const isWaiting = await fireDue(deps, signal);
      return Math.min(await untilNext(deps), isWaiting ? WAITING_MS : ROUND_MS);
    },
    trim: () => trimFirings(deps),
    trimMs: TRIM_MS,
    backoffMs: WAITING_MS,
    pauseMs: ROUND_MIN_MS,
  });
  return async () => {
    await Promise.race([stop(), Bun.sleep(END_MS)]);
  };
}

/** @returns whether firings wait for a session slot */
async function fireDue(deps: Deps, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted && (await writeDue(deps)) > 0);
  await skipStale(deps);
  return await fireWaiting(deps, signal);
}

/** Milliseconds until something is due. */
async function untilNext(deps: Deps): Promise<number> {
  const now = await deps.databaseTime(deps.db);
  const [row] = await deps.db
    .select({ next: min(triggers.nextFireAt) })
    .from(triggers)
    .where(isNotNull(triggers.nextFireAt));
  return row?.next ? Math.max(row.next.getTime() - now.getTime(), 0) : ROUND_MS;
}
