import type { Caller, ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Branches } from "../git/git.ts";
import { readPolicy } from "../projects/policy.ts";

/**
 * Holds a project token to `[change_requests] agent_merge` of the manifest on the default branch (contract: Change
 * requests). The default allows it; a manifest that cannot be read allows nothing, since it may forbid it.
 * @throws agent_merge_forbidden
 */
export async function requireAgentMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  listing: Branches,
): Promise<void> {
  if (caller.kind !== "project" || (await readPolicy(deps, project, listing)).agentMerge) return;
  throw new SvcError(
    "agent_merge_forbidden",
    `This project lets only people merge: ${project.manifestPath} on "${project.defaultBranch}" says agent_merge = false, or cannot be read. Ask a person to run: svc cr merge`,
  );
}
