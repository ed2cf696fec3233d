import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequests, mergeQueueEntries, users } from "../../../../db/schema/index.ts";
import { QUEUE_BRANCHES } from "../../../contract/merge-queue.ts";
import { authorOf } from "../../../identity/auth/actor.ts";
import { notify } from "../../notifications/record.ts";
import { type Act, recordTimeline } from "../../timeline/record.ts";
import { type CrRow, crColumns } from "../row.ts";
import type { Forgotten } from "../stop-merging.ts";

export type QueueRow = typeof mergeQueueEntries.$inferSelect;

/** Change requests in the queue of one branch. */
export const QUEUE_MAX = 100;
/** Bytes of a reason: one may have the words of a git host. */
const REASON_MAX = 2_000;

/** Those in a queue, and not taken out of it. */
export const isQueued = isNull(mergeQueueEntries.outReason);

/** A change request in a queue. */
export interface Entry {
  queued: QueueRow;
  cr: CrRow;
}

/** The queues of a project, each in its order. */
export async function entriesOf(db: Db, projectId: string): Promise<Entry[]> {
  return await db
    .select({ queued: mergeQueueEntries, cr: crColumns })
    .from(mergeQueueEntries)
    .innerJoin(changeRequests, eq(changeRequests.crId, mergeQueueEntries.crId))
    .where(and(eq(mergeQueueEntries.projectId, projectId), isQueued))
    .orderBy(asc(mergeQueueEntries.place));
}

/** What is shown of a change request in a queue, or taken out of it. */
export interface Shown {
  row: QueueRow;
  /** From 1; of one that was taken out: null. */
  position: number | null;
  author: ReturnType<typeof authorOf>;
}

/** Those of change requests, by their ids. */
export async function queuedOf(db: Db, crIds: readonly string[]): Promise<Map<string, Shown>> {
  if (crIds.length === 0) return new Map();
  const before = sql<string>`(select count(*) from ${mergeQueueEntries} other
    where other.project_id = ${mergeQueueEntries.projectId} and other.base_ref = ${mergeQueueEntries.baseRef}
    and other.out_reason is null and other.place <= ${mergeQueueEntries.place})`;
  const rows = await db
    .select({ row: mergeQueueEntries, name: users.name, before })
    .from(mergeQueueEntries)
    .innerJoin(users, eq(users.userId, mergeQueueEntries.userId))
    .where(inArray(mergeQueueEntries.crId, [...crIds]));
  return new Map(
    rows.map(({ row, name, before: place }) => [
      row.crId,
      {
        row,
        position: row.outReason === null ? Number(place) : null,
        author: authorOf(new Map([[row.userId, name]]), row.userId, row.actor),
      },
    ]),
  );
}

/**
 * Takes change requests out of their queues, in the transaction of what is the reason for it, and notifies those who queued
 * them. Call it before its events are recorded, so that they show it.
 * @param tx has locked the rows of the change requests, so no merge of them records its intent meanwhile
 * @returns whether one was in a queue
 */
export async function takeOut(tx: Db, act: Act, crIds: readonly string[], reason: string): Promise<boolean> {
  if (crIds.length === 0) return false;
  const outReason = reason.slice(0, REASON_MAX).toWellFormed();
  const rows = await tx
    .update(mergeQueueEntries)
    .set({ outReason })
    .from(changeRequests)
    .where(
      and(
        inArray(mergeQueueEntries.crId, [...crIds]),
        eq(changeRequests.crId, mergeQueueEntries.crId),
        isQueued,
      ),
    )
    .returning({ queued: mergeQueueEntries, number: changeRequests.number, title: changeRequests.title });
  const event = { event: "removed_from_merge_queue", reason: outReason } as const;
  await recordTimeline(
    tx,
    act,
    rows.map(({ queued }) => ({ crId: queued.crId, branch: queued.baseRef, ...event })),
  );
  for (const { queued, number, title } of rows) {
    const notice = {
      event: "cr.dequeued",
      projectId: queued.projectId,
      key: `${queued.crId} ${queued.place}`,
      of: { crNumber: number },
      title: `#${number} ${title}`,
      text: outReason,
    } as const;
    await notify(tx, notice, [queued.userId]);
  }
  return rows.length > 0;
}

/** Removes a change request from its queue without a trace, or the reason for which it was taken out. @returns null when there was neither */
export async function forgetEntry(tx: Db, crId: string): Promise<Forgotten> {
  const [row] = await tx
    .delete(mergeQueueEntries)
    .where(eq(mergeQueueEntries.crId, crId))
    .returning({ branch: mergeQueueEntries.baseRef, outReason: mergeQueueEntries.outReason });
  if (!row) return null;
  const left = { crId, event: "removed_from_merge_queue", branch: row.branch } as const;
  return { events: row.outReason === null ? [left] : [] };
}

/** The branch on which a merged result is tested. */
export function queueBranch({ baseRef, number }: Pick<CrRow, "baseRef" | "number">): string {
  return `${QUEUE_BRANCHES}${baseRef}/${number}`;
}
