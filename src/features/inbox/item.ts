import { sql } from "drizzle-orm";
import { changeRequests, type projects } from "../../../db/schema/index.ts";
import type { InboxItem, InboxReason } from "../../contract/inbox.ts";
import type { Addressed } from "../../identity/auth/public-url.ts";
import { pageUrl } from "../change-requests/page-url.ts";
import { line } from "../notifications/record.ts";
import { pageUrl as pageOfProject } from "../projects/page-url.ts";

/** As text: an index has the open ones alone, and the planner does not look for it with a parameter. */
export const isOpen = sql`${changeRequests.status} = 'open'`;

type Project = Pick<typeof projects.$inferSelect, "projectId" | "slug" | "name">;

/** A change request as an item of the inbox. */
export function itemOf(
  deps: Addressed,
  { cr, project }: { cr: typeof changeRequests.$inferSelect; project: Project },
  reason: InboxReason,
  text: string,
): InboxItem {
  return {
    reason,
    ...projectOf(project),
    session_id: null,
    change_request: cr.number,
    title: cr.title,
    text: line(text),
    url: pageUrl(deps, project, cr.number),
    since: cr.updatedAt.toISOString(),
  };
}

export const projectOf = ({ projectId, slug, name }: Project) => ({
  project_id: projectId,
  project_slug: slug,
  project_name: name,
});

export function sessionUrl(deps: Addressed, project: Project, sessionId: string): string {
  return pageOfProject(deps, project, `sessions/${sessionId}`);
}
