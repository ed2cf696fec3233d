import type { ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { MANIFEST_MAX_BYTES, type Manifest, readManifest } from "../contract/manifest/manifest.ts";
import type { Deps } from "../deps.ts";
import type { Branches } from "../git/git.ts";
import { fetchCommits, LISTING_MS } from "./fetch.ts";
import { repositoryOf } from "./repository.ts";

type Policy = Pick<Manifest["changeRequests"], "agentMerge" | "directPush">;

/** A manifest that cannot be read allows nothing, since it may forbid it. */
const STRICT: Policy = { agentMerge: false, directPush: false };

/**
 * What `[change_requests]` of the manifest on the default branch allows as it is now (contract: Manifest). How many
 * approvals it asks for, `readApprovalRule` tells.
 * @param listing the repository's branches, if they are known already
 */
export async function readPolicy(deps: Deps, project: ProjectRow, listing?: Branches): Promise<Policy> {
  return (await readManifestOf(deps, project, listing))?.changeRequests ?? STRICT;
}

/**
 * The manifest on the default branch as it is now; without one, its defaults. Null when it cannot be read.
 * @throws SvcError when the repository does not answer
 */
export async function readManifestOf(
  deps: Deps,
  project: ProjectRow,
  listing?: Branches,
): Promise<Manifest | null> {
  return (await readManifestFile(deps, project, listing))?.manifest ?? null;
}

/** The same with what is wrong in it; null when the file could not be had. @throws SvcError like `readManifestOf` */
export async function readManifestFile(
  deps: Deps,
  project: ProjectRow,
  listing?: Branches,
): Promise<ReturnType<typeof readManifest> | null> {
  const repo = repositoryOf(deps, project);
  const { tips } = listing ?? (await deps.git.listBranches(repo, LISTING_MS));
  const tip = tips.get(project.defaultBranch);
  if (tip === undefined) return readManifest("");
  if (!(await fetchCommits(deps, repo, [tip]))) return null;
  try {
    const file = await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES);
    return readManifest(file === null ? "" : new TextDecoder().decode(file));
  } catch (error) {
    if (error instanceof SvcError && error.code === "merge_engine_failed") return null;
    throw error;
  }
}
