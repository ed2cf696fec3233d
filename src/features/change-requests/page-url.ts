import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Addressed, publicUrl } from "../../identity/auth/public-url.ts";

/** The address of a change request's page in the dashboard. */
export function pageUrl(deps: Addressed, project: Pick<ProjectRow, "slug">, number: number): string {
  return `${publicUrl(deps)}/projects/${project.slug}/change-requests/${number}`;
}
