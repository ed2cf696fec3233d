import { desc, eq } from "drizzle-orm";
import { appDeployments, apps } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { beginDeployment } from "./begin.ts";
import { findFolder } from "./folder.ts";
import { type AppRow, lockApp } from "./rows.ts";

/**
 * Looks whether an app is other than it was deployed last: its entry, or what stands at its root in the repository. Only
 * then a deployment is begun; one that has failed is not tried again for the same.
 * @throws repo_unreachable and others of git's, while the commit cannot be looked at
 */
export async function considerApp(deps: Deps, app: AppRow, project: ProjectRow): Promise<void> {
  if (app.presence !== "enabled" || app.isStopped || app.consideredCommit === app.commit) return;
  const tree = await treeOf(deps, project, app);
  await deps.db.transaction(async (tx) => {
    const row = await lockApp(tx, app.appId);
    // a newer one is looked at by a job of its own
    if (row?.commit !== app.commit || row.presence !== "enabled" || row.isStopped) return;
    const [last] = await tx
      .select()
      .from(appDeployments)
      .where(eq(appDeployments.appId, app.appId))
      .orderBy(desc(appDeployments.number))
      .limit(1);
    await tx.update(apps).set({ consideredCommit: app.commit }).where(eq(apps.appId, app.appId));
    const isSame = last?.entryHash === row.entryHash && last.tree === tree;
    const isThere = row.liveId !== null || row.wantedId !== null || last?.state === "failed";
    if (isSame && isThere) return;
    const reason = last ? "changed" : "created";
    await beginDeployment(deps, tx, { app: row, project }, { tree, reason, by: null });
    await publish(tx, project.projectId, { type: "app", id: row.slug, action: "changed" });
  });
  await deps.checkpoint("deploy-begun");
}

/**
 * The id of what stands at an app's root in the commit that is to be deployed; null when no folder does.
 * @throws repo_unreachable and others of git's
 */
export async function treeOf(deps: Deps, project: ProjectRow, app: AppRow): Promise<string | null> {
  const found = await findFolder(deps, project, app.commit, app.entry.rootPath);
  return typeof found === "string" ? null : found.id;
}
