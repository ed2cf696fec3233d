import { min } from "drizzle-orm";
import { notificationDeliveries } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { ROUND_MS, runRounds } from "../../jobs/rounds.ts";
import { abandon, attempt, claim, type DeliveryRow, settle } from "./deliver.ts";
import { NOTIFICATION_WAKER } from "./record.ts";
import { trimNotifications } from "./trim.ts";

/** Attempts of this server at a time: each waits for a push service or an SMTP server, up to 15 seconds. */
const ATTEMPTS_AT_A_TIME = 32;
/** The shortest wait for something that is due but cannot be claimed yet. */
const SOON_MS = 1_000;
/** After an error of the database. */
const BACKOFF_MS = 3_000;
const TRIM_MS = 10 * 60_000;

/**
 * Sends notifications to people, together with all other servers of the database.
 *
 * 1. `record.ts` queues a delivery for each way and browser, in the transaction of what is reported, and wakes the servers.
 *    It is due some seconds later; what was read or is over by then is not sent.
 * 2. `deliver.ts` claims a delivery and sends it. A failure is retried with backoff, for hours at most; a crash repeats the
 *    attempt. A browser that its push service no longer knows is removed.
 *
 * @returns stops the worker
 */
export function startNotificationWorker(deps: Deps): () => Promise<void> {
  const cutting = new AbortController();
  const active = new Set<Promise<void>>();
  const stop = runRounds(deps, {
    subject: "notifications",
    wakers: [NOTIFICATION_WAKER],
    round,
    trim: () => trimNotifications(deps),
    trimMs: TRIM_MS,
    backoffMs: BACKOFF_MS,
  });
  return async () => {
    await stop();
    cutting.abort();
    await Promise.all(active);
  };

  /** Starts attempts until nothing more is due. */
  async function round(signal: AbortSignal): Promise<number> {
    while (!signal.aborted && active.size < ATTEMPTS_AT_A_TIME) {
      const now = await deps.databaseTime(deps.db);
      const claimed = await claim(deps, now);
      if (!claimed) break;
      const work = run(claimed, now).finally(() => {
        active.delete(work);
        deps.changes.notify(NOTIFICATION_WAKER);
      });
      active.add(work);
    }
    return await untilNext(deps);
  }

  async function run(claimed: DeliveryRow, now: Date): Promise<void> {
    try {
      await deps.checkpoint("notification-claimed");
      const outcome = await attempt(deps, claimed, now, cutting.signal);
      await deps.checkpoint("notification-sent");
      await settle(deps, claimed, outcome, await deps.databaseTime(deps.db));
    } catch (error) {
      // any other is made again when its claim ends
      if (cutting.signal.aborted) await abandon(deps, claimed, now).catch(() => {});
      else deps.log.warn({ err: error }, "cannot send a notification");
    }
  }
}

/** Milliseconds until a delivery is due. */
async function untilNext({ db, databaseTime }: Deps): Promise<number> {
  const now = await databaseTime(db);
  const [row] = await db.select({ at: min(notificationDeliveries.dueAt) }).from(notificationDeliveries);
  return row?.at ? Math.max(row.at.getTime() - now.getTime(), SOON_MS) : ROUND_MS;
}
