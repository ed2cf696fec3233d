import { SvcError } from "../../contract/errors.ts";
import { MANIFEST_MAX_BYTES, type Manifest, readManifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits, LISTING_MS } from "./fetch.ts";
import { repositoryOf } from "./repository.ts";

/**
 * Whether people may push to protected branches: `[change_requests] direct_push` of the current manifest on the default
 * branch (contract: Manifest). A manifest that cannot be read does not allow it.
 */
export async function allowsDirectPush(deps: Deps, project: ProjectRow, listing: Branches): Promise<boolean> {
  return (await readManifestOf(deps, project, listing))?.changeRequests.directPush ?? false;
}

/**
 * The current manifest on the default branch, or the defaults without one. Null when it cannot be read.
 * @throws SvcError when the repository does not respond
 */
export async function readManifestOf(
  deps: Deps,
  project: ProjectRow,
  listing?: Branches,
): Promise<Manifest | null> {
  return (await readManifestFile(deps, project, listing))?.manifest ?? null;
}

/** The same with its problems; null when the file cannot be fetched or read. @throws SvcError like `readManifestOf` */
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
