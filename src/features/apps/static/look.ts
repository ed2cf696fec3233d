import { eq } from "drizzle-orm";
import { appDeployments } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findFolder } from "../folder.ts";
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
  const { commit } = deployment;
  const found = await findFolder(deps, project, commit, path);
  const errors = {
    "no-commit": "Its commit is not in the repository any more.",
    "no-folder": `The commit ${commit.slice(0, 12)} has no folder ${path}, where the site is to be.`,
  };
  return { deploymentId: wantedId, error: typeof found === "string" ? errors[found] : null };
}

/** Where a site is in the repository, relative to its root. */
export function sitePath(rootPath: string, dir: string): string {
  const parts = [rootPath, dir].filter((part) => part !== ".");
  return parts.join("/") || ".";
}
