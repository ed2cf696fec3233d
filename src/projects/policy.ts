import type { ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { MANIFEST_MAX_BYTES, type Manifest, readManifest } from "../contract/manifest.ts";
import type { Deps } from "../deps.ts";
import type { Branches } from "../git/git.ts";
import { fetchCommits, LISTING_MS } from "./fetch.ts";
import { repositoryOf } from "./repository.ts";

type Policy = Manifest["changeRequests"];

/** A manifest that cannot be read allows nothing, since it may forbid it. */
const STRICT: Policy = { agentMerge: false, directPush: false, requiredApprovals: 0 };

/**
 * `[change_requests]` of the manifest on the default branch as it is now (contract: Manifest).
 * @param listing the repository's branches, if they are known already
 */
export async function readPolicy(deps: Deps, project: ProjectRow, listing?: Branches): Promise<Policy> {
  const repo = repositoryOf(deps, project);
  const { tips } = listing ?? (await deps.git.listBranches(repo, LISTING_MS));
  const tip = tips.get(project.defaultBranch);
  if (tip === undefined) return readManifest("").manifest?.changeRequests ?? STRICT;
  if (!(await fetchCommits(deps, repo, [tip]))) return STRICT;
  try {
    const file = await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES);
    const text = file === null ? "" : new TextDecoder().decode(file);
    return readManifest(text).manifest?.changeRequests ?? STRICT;
  } catch (error) {
    if (error instanceof SvcError && error.code === "merge_engine_failed") return STRICT;
    throw error;
  }
}
