import { and, eq } from "drizzle-orm";
import { mergeQueueEntries } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { fetchCommits } from "../../projects/fetch.ts";
import { requireAgentMerge, requireUnchanged } from "../agent-merge.ts";
import { callerFor } from "../auto-merge/right.ts";
import { deleteHeadBranch } from "../delete-branch.ts";
import { pushMerge } from "../merge.ts";
import { forgetIntent, intentEnd, ownershipFor, recordIntent } from "../merge-intent.ts";
import type { CrRow } from "../row.ts";
import type { Intent } from "../settle.ts";
import type { Queues } from "./advance.ts";
import type { Result } from "./build.ts";
import { type Entry, isQueued } from "./row.ts";

/**
 * Moves the base to a tested result: that commit and no other. It is a merge like that of a request, by the person who queued
 * it, with the rights that they have now.
 * @throws what a merge throws; base_moved: the next pass builds it again
 */
export async function land(
  deps: Deps,
  { project, repo, listing, rule }: Queues,
  { queued, cr }: Entry,
  result: Result,
): Promise<void> {
  const { parentSha: from, testedSha: to } = result;
  if (!(await fetchCommits(deps, repo, [from, to]))) return await forgetResult(deps, queued.crId, to);
  const caller = await callerFor(deps.db, project, queued, deps.clock());
  const unchanged = await requireAgentMerge(deps, caller, project, listing);
  await requireUnchanged(deps, repo, { from, to }, unchanged);
  const ownership = await ownershipFor(
    deps,
    { repo, rule },
    { base: from, head: queued.headSha, result: to },
  );
  const intent: Intent = {
    crId: queued.crId,
    mergeSha: to,
    baseSha: from,
    headSha: queued.headSha,
    method: queued.method,
    fastForward: result.fastForward,
    message: result.mergeMessage,
    mergedBy: queued.userId,
    mergedActor: queued.actor,
    intendedAt: queued.queuedAt,
    expiresAt: intentEnd(deps),
  };
  const allow = async (tx: Deps["db"]) => {
    const isSame = and(
      eq(mergeQueueEntries.crId, queued.crId),
      eq(mergeQueueEntries.place, queued.place),
      eq(mergeQueueEntries.testedSha, to),
      isQueued,
    );
    // it has left, or another server has built it on another base
    if ((await tx.$count(mergeQueueEntries, isSame)) === 0) throw baseMoved(cr);
    await callerFor(tx, project, queued, deps.clock());
  };
  if (!(await recordIntent(deps, cr, intent, { rule, allow, ownership, checked: to }))) throw baseMoved(cr);
  await deps.checkpoint("intent-recorded");
  const merged = await pushMerge(deps, project, repo, cr, intent);
  if (merged === "stale") {
    await forgetIntent(deps.db, intent);
    throw baseMoved(cr);
  }
  deps.metrics.merges.inc({ outcome: "merged" });
  deps.log.info({ cr: queued.crId }, "merged a change request from the queue");
  if (queued.deleteBranch) {
    const by = { userId: queued.userId, actor: queued.actor };
    await deleteHeadBranch(deps, project, { ...merged, merged: { crId: queued.crId, by } });
  }
}

function baseMoved({ baseRef }: Pick<CrRow, "baseRef">): SvcError {
  return new SvcError("base_moved", `"${baseRef}" has moved.`);
}

/** The commits of a result that the mirror has lost are built again. */
async function forgetResult({ db }: Deps, crId: string, testedSha: string): Promise<void> {
  await db
    .update(mergeQueueEntries)
    .set({ testedSha: null, parentSha: null })
    .where(and(eq(mergeQueueEntries.crId, crId), eq(mergeQueueEntries.testedSha, testedSha)));
}
