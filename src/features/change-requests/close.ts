import { and, eq, gt } from "drizzle-orm";
import { changeRequests, mergeIntents } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { watchHost } from "../checks/host/watch.ts";
import { lockProject } from "../projects/lock.ts";
import { byOf, recordTimeline } from "../timeline/record.ts";
import { OFF } from "./auto-merge/row.ts";
import { requireNoOtherOpen } from "./other-open.ts";
import { present } from "./present.ts";
import { refresh } from "./refresh.ts";
import { type CrRow, changeOf, findChangeRequest } from "./row.ts";
import { stopMerging } from "./stop-merging.ts";
import { recordCrEvent } from "./webhook.ts";

/**
 * Closes an open change request without merging it; closing a closed one changes nothing.
 * @throws already_merged; merge_in_progress while a push of it may be in progress.
 */
export async function closeChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequest> {
  const found = await findChangeRequest(deps.db, project, name);
  const [row = found] = found.hasIntents ? (await refresh(deps, project, [found])).rows : [found];
  const closed = await close(deps, caller, project, row);
  // another request has merged or closed it first
  const now = closed ?? (await findChangeRequest(deps.db, project, row.crId));
  if (now.status === "merged") {
    throw new SvcError(
      "already_merged",
      `Change request #${now.number} is merged and cannot be closed. To undo it, open a change request that reverts it.`,
    );
  }
  return await present(deps, project, now, null);
}

/**
 * Reopens a closed change request. The next read updates its commits.
 * @throws not_closed for an open or merged one; already_open if another one of its branches is open.
 */
export async function reopenChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequest> {
  const { crId, number } = await findChangeRequest(deps.db, project, name);
  const opened = await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(changeRequests)
      .set({ status: "open", closedAt: null, closedBy: null, closedActor: null, updatedAt: deps.clock() })
      .where(and(eq(changeRequests.crId, crId), eq(changeRequests.status, "closed")))
      .returning();
    if (!row)
      throw new SvcError(
        "not_closed",
        `Change request #${number} is not closed, so it cannot be reopened. See its status: svc cr show ${number}`,
      );
    // after the row, in the order of those who change one and announce that
    await lockProject(tx, project.projectId);
    await requireNoOtherOpen(deps, tx, project, row);
    await watchHost(tx, [row], row.updatedAt);
    await recordTimeline(tx, { by: byOf(caller), at: row.updatedAt }, [{ crId, event: "reopened" }]);
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at: row.updatedAt }, row);
    await publish(tx, project.projectId, changeOf(row));
    return row;
  });
  return await present(deps, project, opened, null);
}

async function close(deps: Deps, caller: Caller, project: ProjectRow, row: CrRow) {
  const now = deps.clock();
  return deps.db.transaction(async (tx) => {
    const [closed] = await tx
      .update(changeRequests)
      .set({
        status: "closed",
        closedAt: now,
        closedBy: caller.userId,
        closedActor: actorOf(caller),
        updatedAt: now,
      })
      .where(and(eq(changeRequests.crId, row.crId), eq(changeRequests.status, "open")))
      .returning();
    if (!closed) return null;
    // the row is locked: a merge has either recorded its intent, which is found here, or will find the row closed
    const pushing = await tx.$count(
      mergeIntents,
      and(eq(mergeIntents.crId, row.crId), gt(mergeIntents.expiresAt, now)),
    );
    if (pushing > 0) {
      const sentence = `Change request #${row.number} is being merged. Try again in a moment.`;
      throw new SvcError("merge_in_progress", sentence, {}, { "Retry-After": "5" });
    }
    const act = { by: byOf(caller), at: now };
    await stopMerging(tx, act, [row.crId], OFF.closed);
    await recordTimeline(tx, act, [{ crId: row.crId, event: "closed" }]);
    await recordCrEvent(deps, tx, project, { type: "cr.closed", at: now }, closed);
    await publish(tx, row.projectId, changeOf(row));
    return closed;
  });
}
