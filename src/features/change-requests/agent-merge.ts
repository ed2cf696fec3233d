import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Repository } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestOf } from "../projects/policy.ts";

/**
 * Enforces `[change_requests] agent_merge` of the manifest on the default branch for the token of a session (contract:
 * Change requests). Without it, only people and their own automation merge. A manifest that cannot be read allows nothing.
 * @returns the paths that the merge must not change: the configuration of agents
 * @throws agent_merge_forbidden
 */
export async function requireAgentMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  listing: Branches,
): Promise<string[]> {
  if (caller.kind === "user" || caller.sessionId === null) return [];
  const manifest = await readManifestOf(deps, project, listing);
  if (manifest?.changeRequests.agentMerge) return [project.manifestPath, manifest.opencode.configDir];
  throw new SvcError(
    "agent_merge_forbidden",
    `Agents cannot merge in this project: ${project.manifestPath} on "${project.defaultBranch}" does not set agent_merge = true under [change_requests]. Ask a person to run: svc cr merge`,
  );
}

/**
 * Verifies that a merge leaves the given paths unchanged.
 * @param from the base before the merge @param to the base after it; both are in the mirror
 * @throws agent_merge_forbidden
 */
export async function requireUnchanged(
  deps: Deps,
  repo: Repository,
  { from, to }: { from: string; to: string },
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    const bytes = Buffer.from(path === "." ? "" : path);
    const [before, after] = await Promise.all(
      [from, to].map((commit) => deps.git.findEntry(repo, commit, bytes)),
    );
    if (before?.id === after?.id && before?.mode === after?.mode) continue;
    throw new SvcError(
      "agent_merge_forbidden",
      `This change request changes ${path}, which configures agents, so a person must merge it. Ask a person to run: svc cr merge`,
    );
  }
}
