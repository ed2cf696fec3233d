import { path } from "./path.ts";

/** The page of a session or an app, or else of a change request. */
export function pageOf(of: {
  project_slug: string;
  session_id: string | null;
  change_request: number | null;
  app?: string | null;
}): string {
  if (of.session_id !== null) return path`/projects/${of.project_slug}/sessions/${of.session_id}`;
  if (of.app) return path`/projects/${of.project_slug}/apps/${of.app}`;
  return path`/projects/${of.project_slug}/change-requests/${String(of.change_request)}`;
}
