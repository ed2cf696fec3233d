import type { Db } from "../../../../db/client.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findChangeRequest } from "../../change-requests/row.ts";
import type { PreviewName } from "../rows.ts";

/**
 * Names the preview of an app in a change request, which may not have one.
 * @param cr the number or id of the change request
 * @throws not_found, validation_failed
 */
export async function findPreview(
  db: Db,
  project: ProjectRow,
  cr: string,
  slug: string,
): Promise<PreviewName> {
  const { crId, number } = await findChangeRequest(db, project, cr);
  return { slug, crId, crNumber: number };
}
