import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Addressed, publicUrl } from "../../identity/auth/public-url.ts";

/** The address of the page of the dashboard that shows a part of a project. @param path below the project's */
export function pageUrl(deps: Addressed, { slug }: Pick<ProjectRow, "slug">, path: string): string {
  return `${publicUrl(deps)}/projects/${slug}/${path}`;
}
