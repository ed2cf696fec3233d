import type { ProjectRow } from "../auth/caller.ts";
import { readManifest } from "../contract/manifest/manifest.ts";
import type { Deps } from "../deps.ts";
import type { Repository, TreeEntry } from "../git/git.ts";
import { fetchCommits, LISTING_MS } from "./fetch.ts";
import { readManifestOf } from "./policy.ts";
import { repositoryOf } from "./repository.ts";

/** The folder of a project's agents, skills and tools, as the default branch has it. */
export interface AgentConfig {
  repo: Repository;
  commit: string;
  /** Relative to the repository's root, with `/`; `.` is the root. */
  folder: string;
  directory: TreeEntry;
}

/**
 * Finds that folder on the default branch as it is now: nothing else decides what agents a session has (spec 1, "Skills /
 * agents"). Null where the default branch has none.
 * @throws SvcError when the repository does not answer
 */
export async function findAgentConfig(deps: Deps, project: ProjectRow): Promise<AgentConfig | null> {
  const repo = repositoryOf(deps, project);
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  const commit = listing.tips.get(project.defaultBranch);
  if (commit === undefined || !(await fetchCommits(deps, repo, [commit]))) return null;
  // one that cannot be read says nothing of the folder
  const manifest = (await readManifestOf(deps, project, listing)) ?? readManifest("").manifest;
  const folder = manifest?.opencode.configDir;
  if (folder === undefined) return null;
  const directory = await deps.git.findEntry(repo, commit, Buffer.from(folder === "." ? "" : folder));
  return directory?.type === "directory" ? { repo, commit, folder, directory } : null;
}
