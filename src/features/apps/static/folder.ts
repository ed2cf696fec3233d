import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { eq, inArray } from "drizzle-orm";
import { appDeployments, apps, projects } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { siteFolder } from "../../../data-folder.ts";
import type { Deps } from "../../../deps.ts";
import { streamOf } from "../../../http/stream.ts";
import { unpack } from "../../../sandboxes/unpack.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { findFolder } from "../folder.ts";
import { hasSandbox } from "../rows.ts";
import { sitePath } from "./look.ts";

/** Opens the files of sites, which are kept in the data folder as they were at their deployment. */
export interface Sites {
  /**
   * The folder with the files of a deployment's site. Where they are only files of the repository it is made of that,
   * as often as it is needed.
   * @throws not_found, sandbox_unreachable where another server has what was built, and git's
   */
  folderOf(deploymentId: string): Promise<string>;
}

export function openSites(deps: Deps): Sites {
  const making = new Map<string, Promise<void>>();
  return {
    async folderOf(deploymentId) {
      const folder = siteFolder(deps.config.dataDir, deploymentId);
      if (existsSync(folder)) return folder;
      const made = making.get(deploymentId) ?? make(deps, deploymentId, folder);
      making.set(deploymentId, made);
      try {
        await made;
      } finally {
        making.delete(deploymentId);
      }
      return folder;
    },
  };
}

async function make(deps: Deps, deploymentId: string, folder: string): Promise<void> {
  const [row] = await deps.db
    .select({ deployment: appDeployments, project: projects })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .innerJoin(projects, eq(projects.projectId, apps.projectId))
    .where(eq(appDeployments.deploymentId, deploymentId));
  const site = row?.deployment.entry.static;
  if (!row || !site) throw new SvcError("not_found", "There is no such site.");
  const { entry, commit } = row.deployment;
  if (hasSandbox(entry)) {
    const isHere = row.deployment.sitePlace === deps.serverId;
    const where = isHere
      ? "This server has lost the files of this site"
      : "Another server has the files of this site";
    const sentence = `${where}. Deployed again here they are on this one: svc apps deploy ${entry.slug}`;
    throw new SvcError("sandbox_unreachable", sentence);
  }
  const found = await findFolder(deps, row.project, commit, sitePath(entry.rootPath, site.dir));
  if (found === "no-commit")
    throw new SvcError("repo_unreachable", "The commit of this site is not in the repository any more.");
  if (found === "no-folder") throw new SvcError("not_found", "The site's folder is not in its commit.");
  const repo = repositoryOf(deps, row.project);
  const { id: tree } = found;
  await unpack(
    streamOf((onBytes, signal) => deps.git.archive(repo, { commit, tree, onBytes, signal })),
    folder,
  );
}

/** Removes the files of deployments that are over: nobody is sent to them any more. */
export async function clearSites(deps: Deps): Promise<void> {
  const ids = (await readdir(join(deps.config.dataDir, "sites")).catch(() => [])).map((name) =>
    name.replace(/\.new$/, ""),
  );
  if (ids.length === 0) return;
  const kept = await deps.db
    .select({
      id: appDeployments.deploymentId,
      state: appDeployments.state,
      drain: appDeployments.drainUntil,
    })
    .from(appDeployments)
    .where(inArray(appDeployments.deploymentId, ids));
  const isNeeded = new Set(
    kept
      .filter(({ state, drain }) => drain !== null || ["building", "starting", "live"].includes(state))
      .map(({ id }) => id),
  );
  for (const id of ids)
    if (!isNeeded.has(id)) await rm(siteFolder(deps.config.dataDir, id), { recursive: true, force: true });
}
