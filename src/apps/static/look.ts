import { eq } from "drizzle-orm";
import { appDeployments } from "../../../db/schema/index.ts";
import type { ProjectRow } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { fetchCommits } from "../../projects/fetch.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { type AppRow, hasSandbox } from "../rows.ts";

/** What was found of the folder of a site that is only files of the repository. */
export interface SiteLook {
  deploymentId: string;
  /** Why it cannot be served: a sentence for a person. */
  error: string | null;
}

/**
 * Looks whether the site that is to be served is there, where it is only files of the repository; null where there is
 * nothing to look for.
 * @throws repo_unreachable and others of git's
 */
export async function lookAtSite(
  deps: Deps,
  { app, project }: { app: AppRow; project: ProjectRow },
): Promise<SiteLook | null> {
  const { wantedId } = app;
  if (!wantedId) return null;
  const [deployment] = await deps.db
    .select()
    .from(appDeployments)
    .where(eq(appDeployments.deploymentId, wantedId));
  if (!deployment?.entry.static || hasSandbox(deployment.entry)) return null;
  const path = sitePath(deployment.entry.rootPath, deployment.entry.static.dir);
  const repo = repositoryOf(deps, project);
  const { commit } = deployment;
  if (!(await fetchCommits(deps, repo, [commit])))
    return { deploymentId: wantedId, error: "Its commit is not in the repository any more." };
  const entry = path === "." ? null : await deps.git.findEntry(repo, commit, Buffer.from(path));
  const isThere = path === "." || entry?.type === "directory";
  const error = `The commit ${commit.slice(0, 12)} has no folder ${path}, where the site is to be.`;
  return { deploymentId: wantedId, error: isThere ? null : error };
}

/** Where a site is in the repository, relative to its root. */
export function sitePath(rootPath: string, dir: string): string {
  const parts = [rootPath, dir].filter((part) => part !== ".");
  return parts.join("/") || ".";
}
