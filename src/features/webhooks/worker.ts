import { and, eq, sql } from "drizzle-orm";
import { webhookDeliveries, webhooks } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { ROUND_MS, runRounds } from "../../jobs/rounds.ts";
import { attempt } from "./attempt.ts";
import { abandon, type Claimed, claim, settle } from "./deliver.ts";
import { WEBHOOK_WAKER } from "./record.ts";
import { trimDeliveries } from "./trim.ts";

/** Attempts of this server at a time: each waits for a receiver, up to 15 seconds. */
const ATTEMPTS_AT_A_TIME = 64;
/** Of them, those to receivers that failed last time, and those of one project. */
const FAILING_AT_A_TIME = 32;
const PROJECT_AT_A_TIME = 8;
/** The shortest wait for something that is due but cannot be claimed yet. */
const SOON_MS = 1_000;
/** After a database error. */
const BACKOFF_MS = 3_000;
const TRIM_MS = 10 * 60_000;
/** How long a shutdown waits for attempts in progress before it cuts them off. */
const END_MS = 5_000;

/**
 * Delivers events to webhooks, together with all other servers of the database.
 *
 * 1. `record.ts` queues an event in the transaction of what it reports, and wakes the servers.
 * 2. `deliver.ts` claims the oldest due delivery of a webhook that has no attempt in progress. So a webhook gets its
 *    events one at a time, in order but for retries, and a slow one takes one slot.
 * 3. `attempt.ts` sends it. A failure is retried with backoff; a crash repeats the attempt, with the same id.
 *
 * @returns stops the worker
 */
export function startWebhookWorker(deps: Deps): () => Promise<void> {
  const cutting = new AbortController();
  const active = new Map<Promise<void>, Claimed>();
  const stop = runRounds(deps, {
    subject: "webhooks",
    wakers: [WEBHOOK_WAKER],
    round,
    trim: () => trimDeliveries(deps),
    trimMs: TRIM_MS,
    backoffMs: BACKOFF_MS,
  });
  return async () => {
    await stop();
    const ended = Promise.all(active.keys());
    await Promise.race([ended, Bun.sleep(END_MS)]);
    cutting.abort();
    await ended;
  };

  async function round(signal: AbortSignal): Promise<number> {
    let wait = await untilNext(deps);
    if (wait === 0 && (await fill(signal)) > 0) wait = await untilNext(deps);
    return Math.max(wait, SOON_MS);
  }

  /** Starts attempts until nothing more is due, or may begin. @returns their number */
  async function fill(signal: AbortSignal): Promise<number> {
    let count = 0;
    for (; !signal.aborted && active.size < ATTEMPTS_AT_A_TIME; count++) {
      const now = await deps.databaseTime(deps.db);
      const claimed = await claim(deps, { now, ...limits() });
      if (!claimed) break;
      const work = run(claimed, now).finally(() => {
        active.delete(work);
        deps.changes.notify(WEBHOOK_WAKER);
      });
      active.set(work, claimed);
    }
    return count;
  }

  function limits(): { without: string[]; isFailingIncluded: boolean } {
    const perProject = new Map<string, number>();
    let failing = 0;
    for (const { webhook } of active.values()) {
      perProject.set(webhook.projectId, (perProject.get(webhook.projectId) ?? 0) + 1);
      if (webhook.failingSince !== null) failing++;
    }
    const full = [...perProject].filter(([, count]) => count >= PROJECT_AT_A_TIME);
    return { without: full.map(([projectId]) => projectId), isFailingIncluded: failing < FAILING_AT_A_TIME };
  }

  async function run(claimed: Claimed, now: Date): Promise<void> {
    try {
      await deps.checkpoint("delivery-claimed");
      const outcome = await attempt(deps, { ...claimed, now }, cutting.signal);
      await deps.checkpoint("delivery-sent");
      await settle(deps, claimed, outcome, await deps.databaseTime(deps.db));
    } catch (error) {
      const { webhookId } = claimed.webhook;
      if (!cutting.signal.aborted)
        deps.log.warn({ webhook: webhookId, err: error }, "cannot deliver an event");
      // otherwise the claim ends by itself
      await abandon(deps.db, claimed).catch(() => {});
    }
  }
}

/** Milliseconds until a delivery is due. */
async function untilNext(deps: Deps): Promise<number> {
  const now = await deps.databaseTime(deps.db);
  const [row] = await deps.db
    .select({
      // one that was never attempted is due at once
      next: sql`min(coalesce(greatest(${webhooks.notBefore}, ${webhookDeliveries.nextAttemptAt}), 'epoch'))`.mapWith(
        webhookDeliveries.createdAt,
      ),
    })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.webhookId, webhookDeliveries.webhookId))
    .where(and(eq(webhookDeliveries.status, "pending"), webhooks.isEnabled));
  return row?.next ? Math.min(Math.max(row.next.getTime() - now.getTime(), 0), ROUND_MS) : ROUND_MS;
}
