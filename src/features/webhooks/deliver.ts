import { and, asc, eq, exists, isNull, lte, notInArray, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { webhookDeliveries, webhooks } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { Outcome } from "./attempt.ts";
import { cancelPending } from "./edit.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import { isGivenUp, nextAttempt, pauseUntil } from "./schedule.ts";

/** A claim ends after this, if its server died: longer than any attempt. */
const CLAIM_MS = 60_000;

/** A delivery that this server attempts, alone among all servers. */
export interface Claimed {
  webhook: WebhookRow;
  delivery: DeliveryRow;
}

const isPending = and(
  eq(webhookDeliveries.webhookId, webhooks.webhookId),
  eq(webhookDeliveries.status, "pending"),
);

/**
 * Claims the next delivery that is due: the oldest of a webhook without an attempt in progress. Counts the attempt before
 * it is made, so that a crash cannot repeat it without end.
 * @param without projects that have enough attempts in progress
 * @param isFailingIncluded whether a webhook may be claimed whose last attempt failed
 * @returns null: nothing is due
 */
export async function claim(
  { db }: Pick<Deps, "db">,
  { now, without, isFailingIncluded }: { now: Date; without: string[]; isFailingIncluded: boolean },
): Promise<Claimed | null> {
  return await db.transaction(async (tx) => {
    const due = and(isPending, isDue(now));
    const [found] = await tx
      .select()
      .from(webhooks)
      .where(
        and(
          webhooks.isEnabled,
          or(isNull(webhooks.notBefore), lte(webhooks.notBefore, now)),
          notInArray(webhooks.projectId, without),
          isFailingIncluded ? undefined : isNull(webhooks.failingSince),
          exists(tx.select({ one: sql`1` }).from(webhookDeliveries).where(due)),
        ),
      )
      // those that have waited longest, so that each webhook gets its share
      .orderBy(sql`${webhooks.notBefore} nulls first`, asc(webhooks.webhookId))
      .limit(1)
      .for("no key update", { skipLocked: true });
    if (!found) return null;
    const [delivery] = await tx
      .select()
      .from(webhookDeliveries)
      .where(
        and(
          eq(webhookDeliveries.webhookId, found.webhookId),
          eq(webhookDeliveries.status, "pending"),
          isDue(now),
        ),
      )
      .orderBy(asc(webhookDeliveries.seq))
      .limit(1);
    if (!delivery) return null;
    const [webhook] = await tx
      .update(webhooks)
      .set({ notBefore: new Date(now.getTime() + CLAIM_MS) })
      .where(eq(webhooks.webhookId, found.webhookId))
      .returning();
    const attempts = delivery.attempts + 1;
    const [counted] = await tx
      .update(webhookDeliveries)
      .set({ attempts, attemptedAt: now })
      .where(isSame(delivery))
      .returning();
    return webhook && counted ? { webhook, delivery: counted } : null;
  });
}

function isDue(now: Date) {
  return or(isNull(webhookDeliveries.nextAttemptAt), lte(webhookDeliveries.nextAttemptAt, now));
}

/** The delivery, unless it has ended or another attempt of it has begun. */
function isSame({ deliveryId, attempts }: DeliveryRow) {
  return and(
    eq(webhookDeliveries.deliveryId, deliveryId),
    eq(webhookDeliveries.attempts, attempts),
    eq(webhookDeliveries.status, "pending"),
  );
}

/** Records the result of an attempt, in one transaction: in the log, and what follows for the webhook. */
export async function settle(
  deps: Deps,
  { webhook, delivery }: Claimed,
  outcome: Outcome,
  now: Date,
): Promise<void> {
  const { isDelivered, statusCode, durationMs, response, error, retryAfter } = outcome;
  const again = isDelivered
    ? null
    : nextAttempt(delivery.attempts, { now, retryAfter, random: Math.random() });
  const isOver = isDelivered || again === null;
  const failures = webhook.failures + 1;
  const failingSince = webhook.failingSince ?? now;
  const reason = outcome.disable ?? (isGivenUp(failingSince, now) ? gaveUp(failingSince, error) : null);
  await deps.db.transaction(async (tx) => {
    // the webhook first, as a deletion locks them
    await release(
      tx,
      webhook,
      isDelivered
        ? { failingSince: null, failures: 0, notBefore: null }
        : {
            ...{ failingSince, failures },
            notBefore: pauseUntil(failures, { now, retryAfter }),
            ...(reason !== null && { isEnabled: false, disabledReason: reason }),
          },
    );
    await tx
      .update(webhookDeliveries)
      .set({
        ...(isOver && { status: isDelivered ? ("delivered" as const) : ("failed" as const) }),
        nextAttemptAt: again,
        ...{ statusCode, durationMs, response, error },
      })
      .where(isSame(delivery));
    if (!isDelivered && reason !== null)
      await cancelPending(tx, webhook.webhookId, "The webhook was disabled.");
  });
}

/** Ends a claim without a result: the attempt is made again. */
export async function abandon(db: Db, { webhook, delivery }: Claimed): Promise<void> {
  await db
    .update(webhookDeliveries)
    .set({ attempts: delivery.attempts - 1 })
    .where(isSame(delivery));
  await release(db, webhook, { notBefore: null });
}

/** Changes a webhook, unless the claim is over or a user has disabled or enabled it meanwhile. */
async function release(
  db: Db,
  { webhookId, notBefore }: WebhookRow,
  values: Partial<WebhookRow>,
): Promise<void> {
  const isClaimed = notBefore === null ? isNull(webhooks.notBefore) : eq(webhooks.notBefore, notBefore);
  await db
    .update(webhooks)
    .set(values)
    .where(and(eq(webhooks.webhookId, webhookId), webhooks.isEnabled, isClaimed));
}

function gaveUp(since: Date, error: string | null): string {
  const day = `${since.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `Every delivery has failed since ${day}. The last error: ${error ?? "unknown"}`;
}
