import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Repository } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestOf } from "../projects/policy.ts";

/**
 * Holds the token of a session to `[change_requests] agent_merge` of the manifest on the default branch (contract: Change
 * requests); without it, only people and their own automation merge. A manifest that cannot be read allows nothing.
 * @returns the paths that the caller must not change by a merge: what decides which agents run, with what
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
    `In this project only people merge: ${project.manifestPath} on "${project.defaultBranch}" does not say agent_merge = true under [change_requests]. Ask a person to run: svc cr merge`,
  );
}

/**
 * Holds a merge to the paths that must stay as they are.
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
      `This change request changes ${path}, which decides what agents may do: a person has to merge it. Ask one to run: svc cr merge`,
    );
  }
}
