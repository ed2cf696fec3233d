import { AGENT_CONFIG_MAX_BYTES } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import { readManifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Repository, TreeEntry } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits, LISTING_MS } from "./fetch.ts";
import { readManifestOf } from "./policy.ts";
import { repositoryOf } from "./repository.ts";

/** The folder of a project's agents, skills and tools on the default branch. */
export interface AgentConfig {
  repo: Repository;
  commit: string;
  /** Relative to the repository's root, with `/`; `.` is the root. */
  folder: string;
  directory: TreeEntry;
}

/**
 * Finds that folder on the current default branch, the only source of a session's agents (spec 1, "Skills / agents").
 * Null if the default branch does not have it.
 * @throws SvcError when the repository does not respond
 */
export async function findAgentConfig(deps: Deps, project: ProjectRow): Promise<AgentConfig | null> {
  const repo = repositoryOf(deps, project);
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  const commit = listing.tips.get(project.defaultBranch);
  if (commit === undefined || !(await fetchCommits(deps, repo, [commit]))) return null;
  // a manifest that cannot be read counts as empty
  const manifest = (await readManifestOf(deps, project, listing)) ?? readManifest("").manifest;
  const folder = manifest?.opencode.configDir;
  if (folder === undefined) return null;
  const directory = await deps.git.findEntry(repo, commit, Buffer.from(folder === "." ? "" : folder));
  return directory?.type === "directory" ? { repo, commit, folder, directory } : null;
}

/** The folder as a tar with paths relative to it. @throws payload_too_large */
export async function packAgentConfig(
  deps: Deps,
  { defaultBranch }: ProjectRow,
  { repo, commit, folder, directory }: AgentConfig,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  await deps.git.archive(repo, {
    commit,
    tree: directory.id,
    onBytes(part) {
      parts.push(part);
      bytes += part.length;
      return bytes <= AGENT_CONFIG_MAX_BYTES;
    },
  });
  if (bytes <= AGENT_CONFIG_MAX_BYTES) return Buffer.concat(parts);
  const mib = AGENT_CONFIG_MAX_BYTES / 1024 / 1024;
  throw new SvcError(
    "payload_too_large",
    `The folder "${folder}" on the branch ${defaultBranch} is larger than ${mib} MiB. Keep only agents, skills and tools in it.`,
  );
}
