import { desc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps } from "../../../db/schema/index.ts";
import type { App } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import { catchUp } from "../manifest/catch-up.ts";
import { treeOf } from "./auto-deploy.ts";
import { createDeployment, type Wanted } from "./create.ts";
import { readApp } from "./read.ts";
import { reconcile } from "./reconcile.ts";
import { type AppRow, appChange, findAppByName, lockApp } from "./rows.ts";

/**
 * Redeploys an app from the default branch as it is in the repository now, whether or not the app has changed. A stopped
 * app is no longer stopped.
 * @throws not_found, app_disabled, branch_missing, repo_unreachable
 */
export async function deployApp(deps: Deps, caller: Caller, project: ProjectRow, slug: string): Promise<App> {
  const begunAt = deps.clock();
  await catchUp(deps, project);
  const app = await findAppByName(deps.db, project, slug);
  const tree = await treeOf(deps, project, app);
  return await startDeployment(deps, caller, project, app, false, async (tx, row) =>
    (await isDeployedSince(tx, row, begunAt)) ? null : { tree, reason: "asked", by: caller },
  );
}

/**
 * Starts a deployment on demand, also of a stopped app.
 * @param isPinned whether commits do not deploy the app from then on
 * @param choose what to deploy; null: nothing. Gets the locked row
 * @throws not_found, app_disabled
 */
export async function startDeployment(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { appId }: AppRow,
  isPinned: boolean,
  choose: (tx: Db, row: AppRow) => Promise<Wanted | null>,
): Promise<App> {
  await deps.db.transaction(async (tx) => {
    const row = await lockApp(tx, appId);
    requireEnabled(row, project);
    await tx
      .update(apps)
      .set({ isStopped: false, isPinned, consideredCommit: row.commit })
      .where(eq(apps.appId, appId));
    const wanted = await choose(tx, row);
    if (wanted) await createDeployment(deps, tx, { app: row, project }, wanted);
    const action = wanted?.reason === "rollback" ? "app.rolled_back" : "app.deployed";
    await audit(tx, caller, { action, target: row.slug, targetId: appId, project });
    await deps.jobs.enqueue(tx, APPS_QUEUE, appId);
    await publish(tx, project.projectId, appChange(row));
  });
  return await readApp(deps, appId);
}

/** Whether a commit that this request has noticed was deployed meanwhile, so that it is not built twice. */
export async function isDeployedSince(
  tx: Db,
  { appId, commit, entryHash }: AppRow,
  begunAt: Date,
): Promise<boolean> {
  const [newest] = await tx
    .select()
    .from(appDeployments)
    .where(eq(appDeployments.appId, appId))
    .orderBy(desc(appDeployments.number))
    .limit(1);
  const isSame = newest?.commit === commit && newest.entryHash === entryHash;
  return isSame && newest.createdBy === null && newest.createdAt >= begunAt;
}

/** @throws not_found, app_disabled */
function requireEnabled(app: AppRow | null, { manifestPath }: ProjectRow): asserts app is AppRow {
  if (!app) throw new SvcError("not_found", "The app has been deleted.");
  if (app.presence === "enabled") return;
  const sentence = `The app ${app.slug} is disabled. Set enabled = true in its entry of ${manifestPath}, and merge that.`;
  throw new SvcError("app_disabled", sentence);
}

/** Stops an app until it is deployed again. @throws not_found */
export async function stopApp(deps: Deps, caller: Caller, project: ProjectRow, slug: string): Promise<App> {
  const { appId } = await findAppByName(deps.db, project, slug);
  const touched = await deps.db.transaction(async (tx) => {
    await lockApp(tx, appId);
    await tx.update(apps).set({ isStopped: true, updatedAt: deps.clock() }).where(eq(apps.appId, appId));
    await audit(tx, caller, { action: "app.stopped", target: slug, targetId: appId, project });
    return await reconcile(deps, tx, appId);
  });
  for (const sessionId of touched) deps.changes.notify(sessionId);
  return await readApp(deps, appId);
}
