import type { Caller, ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { MANIFEST_MAX_BYTES, readManifest } from "../contract/manifest.ts";
import type { Deps } from "../deps.ts";
import type { Branches, Repository } from "../git/git.ts";
import { fetchCommits } from "./tips.ts";

/**
 * Holds a project token to `[change_requests] agent_merge` of the manifest on the default branch (contract: Change
 * requests). The default allows it; a manifest that cannot be read allows nothing, since it may forbid it.
 * @throws agent_merge_forbidden
 */
export async function requireAgentMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  repo: Repository,
  listing: Branches,
): Promise<void> {
  if (caller.kind !== "project") return;
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || !(await fetchCommits(deps, repo, [tip]))) return;
  const file = await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES);
  if (file === null) return;
  const { manifest } = readManifest(new TextDecoder().decode(file));
  if (manifest?.changeRequests.agentMerge) return;
  throw new SvcError(
    "agent_merge_forbidden",
    `This project lets only people merge: ${project.manifestPath} on "${project.defaultBranch}" says agent_merge = false, or cannot be read. Ask a person to run: svc cr merge`,
  );
}
