import { DIFF_MAX_FILES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import type { DiffRequest } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { emptyTreeLike } from "../projects/diff.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/**
 * The base of saved work: its merge base with the session's branch as it was pushed, or with the default branch if that
 * is gone; null when it has no common history with either.
 * @throws git's errors
 */
export async function findSavedBase(
  deps: Deps,
  project: ProjectRow,
  branch: string,
  commit: string,
): Promise<string | null> {
  const repo = repositoryOf(deps, project);
  const { tips } = await deps.git.listBranches(repo, LISTING_MS);
  for (const tip of [tips.get(branch), tips.get(project.defaultBranch)]) {
    if (tip === undefined || !(await deps.git.ensureCommits(repo, [tip]))) continue;
    const { mergeBase } = await deps.git.relate(repo, tip, commit);
    if (mergeBase !== null) return mergeBase;
  }
  return null;
}

/** The diff of saved work. Git attributes come from the base, so that the work cannot hide its own changes. */
export function savedDiff(base: string | null, commit: string): Omit<DiffRequest, "onPatch"> {
  return {
    from: base ?? emptyTreeLike(commit),
    to: commit,
    attributes: base ?? commit,
    maxFiles: DIFF_MAX_FILES,
  };
}
