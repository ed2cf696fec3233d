import { SvcError } from "../../contract/errors.ts";
import { readManifestIn } from "../../contract/manifest/claims.ts";
import type { ProjectManifest } from "../../contract/manifest/wire.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { finderOf, lookupBy, readText } from "./tree.ts";

/**
 * The manifest on the default branch as it is now, with its problems.
 * @throws branch_missing, repo_unreachable
 */
export async function readProjectManifest(deps: Deps, project: ProjectRow): Promise<ProjectManifest> {
  const repo = repositoryOf(deps, project);
  const { tips } = await deps.git.listBranches(repo, LISTING_MS);
  const commit = tips.get(project.defaultBranch) ?? null;
  const nothing = { path: project.manifestPath, commit, errors: [], project: { name: null } };
  if (commit === null) return { ...nothing, triggers: [], apps: [] };
  if (!(await fetchCommits(deps, repo, [commit]))) {
    throw new SvcError("branch_missing", "The default branch moved while svc read it. Try again.");
  }
  const find = finderOf(deps, repo, commit);
  const entry = await find(project.manifestPath);
  if (entry?.type !== "file") return { ...nothing, triggers: [], apps: [] };
  const { manifest, errors } = await readManifestIn(
    await readText(deps, repo, commit, entry),
    lookupBy(find),
  );
  return {
    ...nothing,
    errors,
    project: { name: manifest?.project.name ?? null },
    triggers: manifest?.triggers.map(({ slug }) => slug) ?? [],
    apps: manifest?.apps.map(({ slug }) => slug) ?? [],
  };
}
