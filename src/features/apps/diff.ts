import type { DeploymentDiff } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import { DIFF_MAX_FILES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import type { DiffRequest, Repository } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { diffJson, patchResponse } from "../projects/diff.ts";
import { fetchCommits } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { findDeployment } from "./find-deployment.ts";
import { findAppByName } from "./rows.ts";

/**
 * What a deployment changed, from the commit that was live before it, as the JSON of a `DeploymentDiff`.
 * @throws not_found, also for one before which nothing was live; repo_unreachable, merge_engine_failed
 */
export async function diffDeployment(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  number: number,
): Promise<string> {
  const { repo, request } = await prepareDiff(deps, project, slug, number);
  return await diffJson<DeploymentDiff>(deps, repo, request, ({ files, totals, truncated }) => ({
    base_sha: request.from,
    head_sha: request.to,
    files,
    ...totals,
    truncated,
  }));
}

/** The whole patch. @throws as above */
export async function streamDeploymentDiff(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  number: number,
): Promise<Response> {
  const { repo, request } = await prepareDiff(deps, project, slug, number);
  return patchResponse(deps, repo, request);
}

async function prepareDiff(
  deps: Deps,
  project: ProjectRow,
  slug: string,
  number: number,
): Promise<{ repo: Repository; request: Omit<DiffRequest, "onPatch"> }> {
  const app = await findAppByName(deps.db, project, slug);
  const { commit, previousCommit } = await findDeployment(deps.db, app, number);
  if (previousCommit === null)
    throw new SvcError(
      "not_found",
      `No commit was live before deployment ${number} of the app ${slug}, so there is nothing to compare it with.`,
    );
  const repo = repositoryOf(deps, project);
  if (!(await fetchCommits(deps, repo, [previousCommit, commit])))
    throw new SvcError(
      "not_found",
      `A commit of deployment ${number} of the app ${slug} is no longer in the repository.`,
    );
  return {
    repo,
    request: {
      from: previousCommit,
      to: commit,
      attributes: commit,
      pairRenames: true,
      maxFiles: DIFF_MAX_FILES,
    },
  };
}
