import { readManifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { finderOf, readText } from "./tree.ts";

/**
 * The manifest in a commit, which is fetched. Without the file it is an empty one.
 * @returns null when the repository does not have the commit
 * @throws repo_unreachable and others of git's
 */
export async function readManifestAt(
  deps: Deps,
  project: ProjectRow,
  commit: string,
): Promise<ReturnType<typeof readManifest> | null> {
  const repo = repositoryOf(deps, project);
  if (!(await fetchCommits(deps, repo, [commit]))) return null;
  const entry = await finderOf(deps, repo, commit)(project.manifestPath);
  if (entry?.type !== "file") return { manifest: readManifest("").manifest, errors: [] };
  return readManifest(await readText(deps, repo, commit, entry));
}
