import type { ProjectRow } from "../auth/caller.ts";
import type { Project } from "../contract/project.ts";

/** A project's row as it crosses the wire; the credential and the counters stay behind. */
export function toWire(row: ProjectRow): Project {
  return {
    project_id: row.projectId,
    account_id: row.accountId,
    name: row.name,
    slug: row.slug,
    repo_url: row.repoUrl,
    default_branch: row.defaultBranch,
    managed: row.managed,
    manifest_path: row.manifestPath,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
