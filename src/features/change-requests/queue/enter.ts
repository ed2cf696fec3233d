import { and, eq } from "drizzle-orm";
import { mergeQueueEntries } from "../../../../db/schema/index.ts";
import type { QueuedChangeRequest } from "../../../contract/change-request.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { actorOf } from "../../../identity/auth/actor.ts";
import type { Caller } from "../../../identity/auth/caller.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { forgetAutoMerge } from "../auto-merge/row.ts";
import { lockForMerge, ownershipFor, type Prepared, requireHead, wholeSecond } from "../merge-intent.ts";
import { present } from "../present.ts";
import { refresh } from "../refresh.ts";
import { type CrRow, changeOf } from "../row.ts";
import { tipOf } from "../tips.ts";
import { recordCrEvent } from "../webhook.ts";
import { buildResult } from "./build.ts";
import { forgetEntry, isQueued, QUEUE_MAX } from "./row.ts";

/** The name in `changes` that announces work of a queue. */
export const QUEUE_WAKER = "merge-queue";

/**
 * Puts a change request at the end of the queue of its base. It must be one that could be merged now, but for its required
 * checks: those of the merged result decide. One that is in the queue keeps its place.
 * @returns "moved" when a tip or the base has changed meanwhile
 * @throws what a merge throws, and merge_queue_full
 */
export async function enterQueue(
  deps: Deps,
  caller: Caller,
  row: CrRow,
  prepared: Prepared & { deleteBranch: boolean },
): Promise<QueuedChangeRequest | "moved"> {
  const { project, listing, method, message, seen, deleteBranch } = prepared;
  const head = requireHead(row, listing, seen);
  const queuedAt = wholeSecond(deps.clock());
  const wanted = { headSha: head, method, message: message ?? null, userId: caller.userId, queuedAt };
  const parent = tipOf(listing, row.baseRef);
  const built = await buildResult(deps, prepared, row, { ...wanted, parent });
  if (!built) return "moved";
  const ownership = await ownershipFor(deps, prepared, { base: parent, head, result: built.testedSha });
  const isIn = await deps.db.transaction(async (tx) => {
    const locked = await lockForMerge(tx, row, head, { ...prepared, ownership });
    // a reader that finds the head moved later takes it out
    if (locked?.headCommitSha !== head) return false;
    const isSame = and(eq(mergeQueueEntries.crId, row.crId), eq(mergeQueueEntries.headSha, head), isQueued);
    if ((await tx.$count(mergeQueueEntries, isSame)) > 0) return true;
    await requireSpace(tx, row);
    await forgetEntry(tx, row.crId);
    await tx.insert(mergeQueueEntries).values({
      ...wanted,
      crId: row.crId,
      projectId: project.projectId,
      baseRef: row.baseRef,
      deleteBranch,
      tokenId: caller.kind === "project" ? caller.tokenId : null,
      actor: actorOf(caller),
    });
    await forgetAutoMerge(tx, row.crId);
    const at = deps.clock();
    await recordTimeline(tx, { by: byOf(caller), at }, [
      { crId: row.crId, event: "added_to_merge_queue", branch: row.baseRef, method },
    ]);
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at }, locked);
    await publish(tx, project.projectId, changeOf(row));
    return true;
  });
  if (!isIn) {
    await refresh(deps, project, [row]);
    return "moved";
  }
  await deps.checkpoint("queue-entered");
  deps.changes.notify(QUEUE_WAKER);
  return await present(deps, project, row, listing);
}

/** @throws merge_queue_full */
async function requireSpace(tx: Deps["db"], { projectId, baseRef }: CrRow): Promise<void> {
  const queue = and(
    eq(mergeQueueEntries.projectId, projectId),
    eq(mergeQueueEntries.baseRef, baseRef),
    isQueued,
  );
  if ((await tx.$count(mergeQueueEntries, queue)) < QUEUE_MAX) return;
  throw new SvcError(
    "merge_queue_full",
    `The merge queue of "${baseRef}" has ${QUEUE_MAX} change requests, which is the limit. Try again when some of them have been merged. See it with: svc cr queue`,
  );
}
