import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/**
 * Finds a folder of a commit. It fetches the commit.
 * @param path relative to the repository's root; `.` is the root, whose id is the commit's
 * @throws repo_unreachable and others of git's
 */
export async function findFolder(
  deps: Deps,
  project: ProjectRow,
  commit: string,
  path: string,
): Promise<{ id: string } | "no-commit" | "no-folder"> {
  const repo = repositoryOf(deps, project);
  if (!(await fetchCommits(deps, repo, [commit]))) return "no-commit";
  if (path === ".") return { id: commit };
  const entry = await deps.git.findEntry(repo, commit, Buffer.from(path));
  return entry?.type === "directory" ? { id: entry.id } : "no-folder";
}
