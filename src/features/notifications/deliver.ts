import { and, eq, getTableColumns, lte, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import {
  accountMembers,
  notificationDeliveries,
  notifications,
  projects,
  pushBrowsers,
  users,
} from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { sendMail } from "./mail.ts";
import { messageOf } from "./message.ts";
import type { Outcome } from "./outcome.ts";
import { sendPush } from "./push/send.ts";

/** A claim ends after this, if its server died: longer than any attempt. */
const CLAIM_MS = 60_000;
/** Before the second and each later attempt. */
const DELAYS_S = [10, 60, 5 * 60, 15 * 60, 60 * 60, 2 * 3_600] as const;
/** What is older is no news: it stays in the list. */
const GIVE_UP_MS = 6 * 3_600_000;

export type DeliveryRow = typeof notificationDeliveries.$inferSelect;

/**
 * Claims the delivery that has been due for longest. Counts the attempt before it is made, so that a crash cannot repeat it
 * without end.
 */
export async function claim({ db }: Pick<Deps, "db">, now: Date): Promise<DeliveryRow | null> {
  const next = db
    .select({ id: notificationDeliveries.deliveryId })
    .from(notificationDeliveries)
    .where(lte(notificationDeliveries.dueAt, now))
    .orderBy(notificationDeliveries.dueAt)
    .limit(1)
    .for("update", { skipLocked: true });
  const [claimed] = await db
    .update(notificationDeliveries)
    .set({
      dueAt: new Date(now.getTime() + CLAIM_MS),
      attempts: sql`${notificationDeliveries.attempts} + 1`,
    })
    .where(eq(notificationDeliveries.deliveryId, sql`(${next})`))
    .returning();
  return claimed ?? null;
}

/** Makes the attempt of a claimed delivery. @returns null: there is nothing to send any more */
export async function attempt(
  deps: Deps,
  delivery: DeliveryRow,
  now: Date,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const found = await findDue(deps.db, delivery);
  if (!found || now.getTime() - found.notification.createdAt.getTime() > GIVE_UP_MS) return null;
  const message = messageOf(found.notification, found.project);
  if (found.browser) return await sendPush(deps, found.browser, { message, now }, signal);
  // an address that is not verified may be anybody's
  if (!found.isEmailProven) return null;
  return await sendMail(deps, { to: found.email, message }, signal);
}

/** What a delivery sends and to whom; null if it was read, is over, or its person may not see it any more. */
async function findDue(db: Db, { notificationId, browserId }: DeliveryRow) {
  const [found] = await db
    .select({
      notification: getTableColumns(notifications),
      project: { slug: projects.slug, name: projects.name },
      browser: pushBrowsers,
      email: users.email,
      isEmailProven: users.emailProven,
    })
    .from(notifications)
    .innerJoin(users, eq(users.userId, notifications.userId))
    .innerJoin(projects, eq(projects.projectId, notifications.projectId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, projects.accountId), eq(accountMembers.userId, notifications.userId)),
    )
    .leftJoin(
      pushBrowsers,
      and(eq(pushBrowsers.browserId, sql`${browserId}::uuid`), eq(pushBrowsers.userId, notifications.userId)),
    )
    .where(eq(notifications.notificationId, notificationId));
  if (!found || found.notification.readAt !== null) return null;
  // another person has switched push on in this browser
  return browserId !== null && !found.browser ? null : found;
}

/** Records the result of an attempt, in one transaction. */
export async function settle(
  { db }: Pick<Deps, "db">,
  delivery: DeliveryRow,
  outcome: Outcome | null,
  now: Date,
): Promise<void> {
  const { deliveryId, attempts, browserId } = delivery;
  const delay = DELAYS_S[attempts - 1];
  const isSame = and(
    eq(notificationDeliveries.deliveryId, deliveryId),
    eq(notificationDeliveries.attempts, attempts),
  );
  await db.transaction(async (tx) => {
    // the browser first, as its removal locks them
    if (browserId !== null && outcome) await settleBrowser(tx, browserId, outcome, now);
    if (outcome?.kind === "later" && delay !== undefined) {
      const dueAt = new Date(now.getTime() + Math.max(delay, outcome.afterS) * 1000);
      await tx.update(notificationDeliveries).set({ dueAt }).where(isSame);
    } else await tx.delete(notificationDeliveries).where(isSame);
  });
}

async function settleBrowser(tx: Db, browserId: string, outcome: Outcome, now: Date): Promise<void> {
  const isIt = eq(pushBrowsers.browserId, browserId);
  if (outcome.kind === "gone") await tx.delete(pushBrowsers).where(isIt);
  else {
    const set = outcome.kind === "sent" ? { deliveredAt: now, error: null } : { error: outcome.error };
    await tx.update(pushBrowsers).set(set).where(isIt);
  }
}

/** Ends a claim without a result: the attempt is made again. */
export async function abandon(
  { db }: Pick<Deps, "db">,
  { deliveryId, attempts }: DeliveryRow,
  now: Date,
): Promise<void> {
  await db
    .update(notificationDeliveries)
    .set({ attempts: attempts - 1, dueAt: now })
    .where(
      and(eq(notificationDeliveries.deliveryId, deliveryId), eq(notificationDeliveries.attempts, attempts)),
    );
}
