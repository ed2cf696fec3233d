import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type Act, byOf, type NewEvent, recordTimeline } from "../timeline/record.ts";
import { turnOff } from "./auto-merge/row.ts";
import { lockOpen } from "./merge-intent.ts";
import { present } from "./present.ts";
import { takeOut } from "./queue/row.ts";
import { changeOf, findChangeRequest } from "./row.ts";
import { recordCrEvent } from "./webhook.ts";

type Row = typeof changeRequests.$inferSelect;

/**
 * Turns the auto-merges of change requests off and takes them out of their merge queues, in the transaction of what is the
 * reason for it and before its events are recorded.
 * @param tx has locked the rows of the change requests
 */
export async function stopMerging(tx: Db, act: Act, crIds: readonly string[], reason: string): Promise<void> {
  await turnOff(tx, act, crIds, reason);
  await takeOut(tx, act, crIds, reason);
}

/**
 * Gives up a merge that svc was to do, unless the change request is no longer open.
 * @param giveUp has the row locked; false: there is nothing to give up
 */
export async function giveUpMerge(
  deps: Deps,
  project: ProjectRow,
  crId: string,
  giveUp: (tx: Db, row: Row) => Promise<boolean>,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .select()
      .from(changeRequests)
      .where(and(eq(changeRequests.crId, crId), eq(changeRequests.status, "open")))
      .for("update");
    if (row && (await giveUp(tx, row))) await announce(deps, tx, project, row);
  });
}

/**
 * The same, because a person asks for it. A merge that has already recorded its intent continues.
 * @throws not_open, not_found
 */
export async function withdrawMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  forget: (tx: Db, crId: string) => Promise<Forgotten>,
): Promise<ChangeRequest> {
  const row = await findChangeRequest(deps.db, project, name);
  await deps.db.transaction(async (tx) => {
    const locked = await lockOpen(tx, row);
    const forgotten = await forget(tx, row.crId);
    if (forgotten === null) return;
    await recordTimeline(tx, { by: byOf(caller), at: deps.clock() }, forgotten.events);
    await announce(deps, tx, project, locked);
  });
  return await present(deps, project, row, null);
}

/** What the timeline gets of a merge that is withdrawn, if it was still to be done; null: there was none. */
export type Forgotten = { events: readonly NewEvent[] } | null;

async function announce(deps: Deps, tx: Db, project: ProjectRow, row: Row): Promise<void> {
  await recordCrEvent(deps, tx, project, { type: "cr.updated", at: deps.clock() }, row);
  await publish(tx, project.projectId, changeOf(row));
}
