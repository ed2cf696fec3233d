import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Addressed } from "../../identity/auth/public-url.ts";
import { pageUrl as pageOfProject } from "../projects/page-url.ts";

/** The address of a change request's page in the dashboard. */
export function pageUrl(deps: Addressed, project: Pick<ProjectRow, "slug">, number: number): string {
  return pageOfProject(deps, project, `change-requests/${number}`);
}
