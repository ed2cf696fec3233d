import type { Project } from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/**
 * A project's row as it crosses the wire, without the credential and the counters. The URL of a repository that svc hosts
 * is that of the git gateway.
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
    model_budget: row.modelBudget,
    model_session_budget: row.modelSessionBudget,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** The URL of a project at the git gateway of the server at `base`. */
export function gitUrlOf(base: string, projectId: string): string {
  return `${base}/v1/git/${projectId}.git`;
}
