import type { TimelineEvent } from "../../contract/timeline.ts";
import type { Deps } from "../../deps.ts";
import type { Page } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { listTimeline } from "../timeline/list.ts";
import { refresh } from "./refresh.ts";
import { findChangeRequest } from "./row.ts";

/**
 * What has happened to a change request, the oldest first, with pushes up to now.
 * @throws not_found, validation_failed
 */
export async function readTimeline(
  deps: Deps,
  project: ProjectRow,
  name: string,
  page: Page,
): Promise<{ events: TimelineEvent[]; next_cursor?: string }> {
  const row = await findChangeRequest(deps.db, project, name);
  await refresh(deps, project, [row]);
  return await listTimeline(deps.db, row, page);
}
