import { and, eq } from "drizzle-orm";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest, EditChangeRequestBody } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES, METADATA_MAX_BYTES, TITLE_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable, storableObject } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { byOf, type NewEvent, recordTimeline } from "../timeline/record.ts";
import { OFF } from "./auto-merge/row.ts";
import { changeLabels } from "./labels/change.ts";
import { changePeople } from "./people/change.ts";
import { recordRequests } from "./people/requested.ts";
import { present } from "./present.ts";
import { changeBase, findBase } from "./retarget.ts";
import { changeOf, findChangeRequest } from "./row.ts";
import { stopMerging } from "./stop-merging.ts";
import { recordCrEvent } from "./webhook.ts";

/**
 * Edits the title, description, metadata, labels or assignees of a change request in any state, or of an open one the base, the requested reviewers and
 * whether it is a draft.
 * @throws not_found, not_open, validation_failed for a label or a person, and for another base validation_failed, invalid_ref, ref_not_found, merge_in_progress,
 *   already_open, repo_unreachable
 */
export async function editChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: EditChangeRequestBody,
): Promise<ChangeRequest> {
  const found = await findChangeRequest(deps.db, project, name);
  const { crId } = found;
  const base = body.base_ref === undefined ? null : await findBase(deps, project, found, body.base_ref);
  const fields = {
    ...(body.title !== undefined && { title: storable("title", body.title.trim(), TITLE_MAX * 4) }),
    ...(body.description !== undefined && {
      description: storable("description", body.description, DESCRIPTION_MAX_BYTES),
    }),
    ...(body.draft !== undefined && { draft: body.draft }),
    ...(body.metadata !== undefined && {
      metadata: storableObject("metadata", body.metadata, METADATA_MAX_BYTES),
    }),
  };
  const edited = await deps.db.transaction(async (tx) => {
    const act = { by: byOf(caller), at: deps.clock() };
    const [before] = await tx
      .select()
      .from(changeRequests)
      .where(eq(changeRequests.crId, crId))
      .for("no key update");
    if (base) await changeBase(deps, tx, project, found, base, act);
    const [row] = await tx
      .update(changeRequests)
      .set({ ...fields, updatedAt: act.at })
      .where(and(eq(changeRequests.crId, crId), body.draft === undefined ? undefined : isOpen))
      .returning();
    if (before && !row)
      throw new SvcError(
        "not_open",
        `Change request #${found.number} is not open, so it cannot become a draft or ready. See its status: svc cr show ${found.number}`,
      );
    if (!before || !row)
      throw new SvcError(
        "not_found",
        "The change request was deleted while this request ran. List all with: svc cr ls --status all",
      );
    if (body.draft) await stopMerging(tx, act, [crId], OFF.draft);
    await recordTimeline(tx, act, eventsOf(before, row));
    await changeLabels(tx, caller, row, act.at, body);
    const asked = await changePeople(tx, caller, row, row.updatedAt, body);
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at: row.updatedAt }, row);
    await recordRequests(deps, tx, caller, project, { row, at: row.updatedAt, asked });
    await publish(tx, project.projectId, changeOf(row));
    return row;
  });
  return await present(deps, project, edited, null);
}

const isOpen = eq(changeRequests.status, "open");

type Row = typeof changeRequests.$inferSelect;

/** What the timeline has of an edit, besides labels, people and the base. */
function eventsOf(before: Row, { crId, title, draft }: Row): NewEvent[] {
  const event = draft ? "convert_to_draft" : "ready_for_review";
  return [
    ...(title === before.title ? [] : [{ crId, event: "renamed" as const, from: before.title, to: title }]),
    ...(draft === before.draft ? [] : [{ crId, event } as const]),
  ];
}
