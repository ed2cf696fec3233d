import { eq } from "drizzle-orm";
import { appDeployments } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findFolder } from "../folder.ts";
import { type AppRow, hasSandbox } from "../rows.ts";

/** The result of checking the folder of a site of files in the repository. */
export interface SiteCheck {
  deploymentId: string;
  /** Why it cannot be served; null: it can. */
  error: string | null;
}

/**
 * Checks that the folder of the site to deploy exists, if it is a site of files in the repository; null: there is
 * nothing to check.
 * @throws repo_unreachable and others of git's
 */
export async function checkSite(
  deps: Deps,
  { app, project }: { app: AppRow; project: ProjectRow },
): Promise<SiteCheck | null> {
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
    "no-commit": "Its commit is no longer in the repository.",
    "no-folder": `The site's folder ${path} does not exist in the commit ${commit.slice(0, 12)}.`,
  };
  return { deploymentId: wantedId, error: typeof found === "string" ? errors[found] : null };
}

/** The path of a site's folder, relative to the repository's root. */
export function sitePath(rootPath: string, dir: string): string {
  const parts = [rootPath, dir].filter((part) => part !== ".");
  return parts.join("/") || ".";
}
