import type { Project } from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/**
 * A project's row as it crosses the wire; the credential and the counters stay behind. A repository that svc hosts is
 * at its gateway only.
 */
export function toWire({ config }: Pick<Deps, "config">, row: ProjectRow): Project {
  const gitUrl = gitUrlOf(config.publicUrl, row.projectId);
  return {
    project_id: row.projectId,
    account_id: row.accountId,
    name: row.name,
    slug: row.slug,
    repo_url: row.repoUrl ?? gitUrl,
    git_url: gitUrl,
    default_branch: row.defaultBranch,
    protected_branches: [row.defaultBranch, ...row.formerDefaultBranches],
    managed: row.repoUrl === null,
    manifest_path: row.manifestPath,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** A project's address at the gateway of a server that is reached at `base`. */
export function gitUrlOf(base: string, projectId: string): string {
  return `${base}/v1/git/${projectId}.git`;
}
