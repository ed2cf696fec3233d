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
import { deployCommand, hasSandbox } from "../rows.ts";
import { sitePath } from "./check.ts";

/** The files of sites, which are kept in the data folder, one folder for each deployment. */
export interface Sites {
  /**
   * The folder with the files of a deployment's site. A site of files in the repository is unpacked from its commit
   * when the folder is missing.
   * @throws not_found, sandbox_unreachable when another server has the built site, and git's
   */
  folderOf(deploymentId: string): Promise<string>;
}

export function openSites(deps: Deps): Sites {
  const unpacking = new Map<string, Promise<void>>();
  return {
    async folderOf(deploymentId) {
      const folder = siteFolder(deps.config.dataDir, deploymentId);
      if (existsSync(folder)) return folder;
      const unpacked = unpacking.get(deploymentId) ?? unpackSite(deps, deploymentId, folder);
      unpacking.set(deploymentId, unpacked);
      try {
        await unpacked;
      } finally {
        unpacking.delete(deploymentId);
      }
      return folder;
    },
  };
}

async function unpackSite(deps: Deps, deploymentId: string, folder: string): Promise<void> {
  const [row] = await deps.db
    .select({ deployment: appDeployments, app: apps, project: projects })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .innerJoin(projects, eq(projects.projectId, apps.projectId))
    .where(eq(appDeployments.deploymentId, deploymentId));
  const site = row?.deployment.entry.static;
  if (!row || !site)
    throw new SvcError("not_found", "This site is not deployed. See the app's state with: svc apps ls");
  const { entry, commit } = row.deployment;
  if (hasSandbox(entry)) {
    const isHere = row.deployment.sitePlace === deps.serverId;
    const where = isHere
      ? "This server has lost the files of this site"
      : "Another server has the files of this site";
    const sentence = `${where}. Redeploy the app to build them on this server: ${deployCommand(row.app)}`;
    throw new SvcError("sandbox_unreachable", sentence);
  }
  const found = await findFolder(deps, row.project, commit, sitePath(entry.rootPath, site.dir));
  if (found === "no-commit")
    throw new SvcError(
      "repo_unreachable",
      `The commit of this site, ${commit}, is no longer in the repository. Deploy it again: ${deployCommand(row.app)}`,
    );
  if (found === "no-folder")
    throw new SvcError(
      "not_found",
      `The folder "${sitePath(entry.rootPath, site.dir)}" of this site does not exist in its commit, ${commit}. Correct [apps.static] dir.`,
    );
  const repo = repositoryOf(deps, row.project);
  const { id: tree } = found;
  await unpack(
    streamOf((onBytes, signal) => deps.git.archive(repo, { commit, tree, onBytes, signal })),
    folder,
  );
}

/** Deletes the files of ended deployments, which are no longer served. */
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
