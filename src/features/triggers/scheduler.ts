import { isNotNull, min } from "drizzle-orm";
import { triggers } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { writeDue } from "./due.ts";
import { fireWaiting } from "./fire.ts";
import { skipStale, trimFirings } from "./stale.ts";

/** The longest time between two rounds: the delay if a notification is lost. */
const ROUND_MS = 30_000;
/** The same while firings wait for a session slot, and after an error. */
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
  const stopping = new AbortController();
  const rounds = loop(deps, stopping.signal);
  return async () => {
    stopping.abort();
    await Promise.race([rounds, Bun.sleep(END_MS)]);
  };
}

async function loop(deps: Deps, signal: AbortSignal): Promise<void> {
  let trimAt = performance.now() + TRIM_MS;
  while (!signal.aborted) {
    // subscribe before the round, so that no change is missed
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const changed = deps.changes.wait(["trigger", "session"], ROUND_MS, until);
    let wait = WAITING_MS;
    try {
      const isWaiting = await fireDue(deps, signal);
      if (performance.now() > trimAt) {
        await trimFirings(deps);
        trimAt = performance.now() + TRIM_MS;
      }
      wait = Math.min(await untilNext(deps), isWaiting ? WAITING_MS : ROUND_MS);
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ err: error }, "a round of the triggers failed");
    }
    await Promise.race([changed, deps.changes.wait([], wait, until)]);
    over.abort();
    // batches a burst of changes
    if (!signal.aborted) await Bun.sleep(ROUND_MIN_MS);
  }
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
