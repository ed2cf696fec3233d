import { path } from "./path.ts";

/** The page of a session, or else of a change request. */
export function pageOf(of: {
  project_slug: string;
  session_id: string | null;
  change_request: number | null;
}): string {
  return of.session_id === null
    ? path`/projects/${of.project_slug}/change-requests/${String(of.change_request)}`
    : path`/projects/${of.project_slug}/sessions/${of.session_id}`;
}
