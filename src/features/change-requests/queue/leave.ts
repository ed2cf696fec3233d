import { eq } from "drizzle-orm";
import { changeRequests } from "../../../../db/schema/index.ts";
import type { ChangeRequest } from "../../../contract/change-request.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { notOpen } from "../merge-intent.ts";
import { present } from "../present.ts";
import { changeOf, findChangeRequest } from "../row.ts";
import { recordCrEvent } from "../webhook.ts";
import { forgetEntry } from "./row.ts";

/**
 * Removes a change request from the merge queue. A merge that has already recorded its intent continues.
 * @throws not_open, not_found
 */
export async function leaveQueue(deps: Deps, project: ProjectRow, name: string): Promise<ChangeRequest> {
  const row = await findChangeRequest(deps.db, project, name);
  await deps.db.transaction(async (tx) => {
    const [locked] = await tx
      .select()
      .from(changeRequests)
      .where(eq(changeRequests.crId, row.crId))
      .for("update");
    if (locked?.status !== "open") throw notOpen(row, locked?.status ?? "deleted");
    if (!(await forgetEntry(tx, row.crId))) return;
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at: deps.clock() }, locked);
    await publish(tx, project.projectId, changeOf(row));
  });
  return await present(deps, project, row, null);
}
