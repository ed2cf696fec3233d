import { and, eq, inArray, isNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { autoMerges, changeRequests, users } from "../../../../db/schema/index.ts";
import type { ChangeRequest } from "../../../contract/change-request.ts";
import type { ErrorCode } from "../../../contract/errors.ts";
import { authorOf } from "../../../identity/auth/actor.ts";
import { notify } from "../../notifications/record.ts";
import { type Act, recordTimeline } from "../../timeline/record.ts";
import type { Forgotten } from "../stop-merging.ts";

export type AutoMergeRow = typeof autoMerges.$inferSelect;

/** Bytes of the reason for which svc turned it off: one may have the words of a git host. */
const REASON_MAX = 2_000;

/** What turns it off, besides other refusals of the merge. */
export const OFF = {
  closed: "The change request was closed.",
  rebased: "The base of the change request was changed.",
  draft: "The change request became a draft.",
  conflict: "The branches conflict.",
  pushed: "Commits were pushed to the branch.",
} as const;

/** Failures of a merge that have nothing to do with the change request: it is tried again. */
export const PASSING = [
  ...(["base_moved", "repo_unreachable", "unavailable", "merge_engine_failed", "disk_full"] as const),
] satisfies ErrorCode[];

/** The auto-merges of change requests, as they cross the wire, by the ids of the change requests. */
export async function autoMergesOf(
  db: Db,
  crIds: readonly string[],
): Promise<Map<string, ChangeRequest["auto_merge"]>> {
  if (crIds.length === 0) return new Map();
  const rows = await db
    .select({ auto: autoMerges, name: users.name })
    .from(autoMerges)
    .innerJoin(users, eq(users.userId, autoMerges.userId))
    .where(inArray(autoMerges.crId, [...crIds]));
  return new Map(rows.map(({ auto, name }) => [auto.crId, toWire(auto, name)]));
}

function toWire(row: AutoMergeRow, name: string): NonNullable<ChangeRequest["auto_merge"]> {
  return {
    enabled: row.offReason === null,
    off_reason: row.offReason,
    head_commit_sha: row.headSha,
    method: row.method,
    delete_branch: row.deleteBranch,
    author: authorOf(new Map([[row.userId, name]]), row.userId, row.actor),
    created_at: row.createdAt.toISOString(),
  };
}

/**
 * Turns auto-merges off, in the transaction of what is the reason for it, and notifies those who turned them on. Call it before
 * its events are recorded, so that they show it.
 * @param tx has locked the rows of the change requests, so no merge of them records its intent meanwhile
 * @returns whether one was on
 */
export async function turnOff(tx: Db, act: Act, crIds: readonly string[], reason: string): Promise<boolean> {
  if (crIds.length === 0) return false;
  const offReason = reason.slice(0, REASON_MAX).toWellFormed();
  const rows = await tx
    .update(autoMerges)
    .set({ offReason })
    .from(changeRequests)
    .where(
      and(
        inArray(autoMerges.crId, [...crIds]),
        eq(changeRequests.crId, autoMerges.crId),
        isNull(autoMerges.offReason),
      ),
    )
    .returning({ auto: autoMerges, cr: changeRequests });
  const event = { event: "auto_merge_disabled", reason: offReason } as const;
  await recordTimeline(
    tx,
    act,
    rows.map(({ auto }) => ({ crId: auto.crId, ...event })),
  );
  for (const { auto, cr } of rows) {
    const notice = {
      event: "cr.auto_merge_disabled",
      projectId: cr.projectId,
      key: `${auto.crId} ${auto.createdAt.toISOString()}`,
      of: { crNumber: cr.number },
      title: `#${cr.number} ${cr.title}`,
      text: offReason,
    } as const;
    await notify(tx, notice, [auto.userId]);
  }
  return rows.length > 0;
}

/** Removes an auto-merge, on or off. @returns null when there was none */
export async function forgetAutoMerge(tx: Db, crId: string): Promise<Forgotten> {
  const [row] = await tx
    .delete(autoMerges)
    .where(eq(autoMerges.crId, crId))
    .returning({ offReason: autoMerges.offReason });
  if (!row) return null;
  return { events: row.offReason === null ? [{ crId, event: "auto_merge_disabled" }] : [] };
}
