import { eq } from "drizzle-orm";
import { changeRequests } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { ChangeRequest, EditChangeRequestBody } from "../contract/change-request.ts";
import { SvcError } from "../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES, METADATA_MAX_BYTES, TITLE_MAX } from "../contract/limits.ts";
import type { Deps } from "../deps.ts";
import { storable, storableObject } from "../http/text.ts";
import { findChangeRequest, toWire } from "./row.ts";

/** Changes the words of a change request, in every state. */
export async function editChangeRequest(
  deps: Deps,
  project: ProjectRow,
  name: string,
  body: EditChangeRequestBody,
): Promise<ChangeRequest> {
  const { crId } = await findChangeRequest(deps.db, project, name);
  const [row] = await deps.db
    .update(changeRequests)
    .set({
      ...(body.title !== undefined && { title: storable("title", body.title.trim(), TITLE_MAX * 4) }),
      ...(body.description !== undefined && {
        description: storable("description", body.description, DESCRIPTION_MAX_BYTES),
      }),
      ...(body.metadata !== undefined && {
        metadata: storableObject("metadata", body.metadata, METADATA_MAX_BYTES),
      }),
      updatedAt: deps.clock(),
    })
    .where(eq(changeRequests.crId, crId))
    .returning();
  if (!row) throw new SvcError("not_found", "The change request was deleted in the meantime.");
  return toWire(row);
}
