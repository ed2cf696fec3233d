import { desc, eq } from "drizzle-orm";
import { appDeployments, apps } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { createDeployment } from "./create.ts";
import { findFolder } from "./folder.ts";
import { hasRoom, makeRoom } from "./previews/room.ts";
import { type AppRow, appChange, lockApp } from "./rows.ts";

/**
 * Deploys an app if it has changed since its last deployment: its entry, or the folder at its root in the repository. A
 * failed deployment is not retried without a change, and an app that was rolled back stays as it is.
 * @throws repo_unreachable and others of git's, while the commit cannot be read
 */
export async function deployIfChanged(deps: Deps, app: AppRow, project: ProjectRow): Promise<void> {
  if (app.presence !== "enabled" || app.isStopped || app.consideredCommit === app.commit) return;
  const tree = await treeOf(deps, project, app);
  await makeRoom(deps, app);
  await deps.db.transaction(async (tx) => {
    const row = await lockApp(tx, app.appId);
    // a newer commit has its own job
    if (row?.commit !== app.commit || row.presence !== "enabled" || row.isStopped) return;
    const [last] = await tx
      .select()
      .from(appDeployments)
      .where(eq(appDeployments.appId, app.appId))
      .orderBy(desc(appDeployments.number))
      .limit(1);
    // one that waits for room is asked for until it has it (`previews/deploy.ts`)
    const isAsked = row.crId !== null && row.consideredCommit === null;
    if (!(await hasRoom(deps, tx, row))) return;
    await tx.update(apps).set({ consideredCommit: app.commit }).where(eq(apps.appId, app.appId));
    if (row.isPinned) return;
    const isSame = last?.entryHash === row.entryHash && last.tree === tree;
    const isDeployed = row.liveId !== null || row.wantedId !== null || last?.state === "failed";
    if (isSame && isDeployed && !isAsked) return;
    const reason = last ? "changed" : "created";
    await createDeployment(deps, tx, { app: row, project }, { tree, reason, by: null });
    await publish(tx, project.projectId, appChange(row));
  });
  await deps.checkpoint("deploy-started");
}

/**
 * The id of the folder at an app's root in the commit to deploy; null when it does not exist.
 * @throws repo_unreachable and others of git's
 */
export async function treeOf(deps: Deps, project: ProjectRow, app: AppRow): Promise<string | null> {
  const found = await findFolder(deps, project, app.commit, app.entry.rootPath);
  return typeof found === "string" ? null : found.id;
}
