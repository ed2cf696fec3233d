import { randomUUID } from "node:crypto";
import { and, desc, eq, inArray, isNull, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps, runs, volumes } from "../../../db/schema/index.ts";
import type { DEPLOY_REASONS } from "../../contract/app.ts";
import { LIVE_STATUSES } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { lockAccount } from "../../identity/accounts/lock.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { addRun, setGoal } from "../runs/goal.ts";
import { endDeployment } from "./end.ts";
import { deploymentRuns } from "./kind.ts";
import { type AppRow, type DeploymentRow, hasSandbox } from "./rows.ts";
import { usesVolume } from "./volumes/take.ts";
import { recordDeploymentEvent } from "./webhook.ts";

/** Ended deployments that are kept of an app, with their logs: some weeks of a project that merges daily. */
const KEPT = 50;

/** What to deploy, and why. */
export interface Wanted {
  /** The id of the folder at the entry's root in the commit; null when it does not exist. */
  tree: string | null;
  reason: (typeof DEPLOY_REASONS)[number];
  /** Null: svc itself. */
  by: Caller | null;
  /** An earlier deployment to deploy again, instead of the app's entry and commit. */
  again?: DeploymentRow;
}

/**
 * Creates a deployment of an app's entry. It replaces one that is still in progress. An entry that cannot be deployed
 * becomes a failed deployment.
 * @param tx has the app's row locked
 */
export async function createDeployment(
  deps: Deps,
  tx: Db,
  { app, project }: { app: AppRow; project: ProjectRow },
  { tree, reason, by, again }: Wanted,
): Promise<DeploymentRow> {
  const number = app.deploymentCount + 1;
  const { appId, liveId } = app;
  const { entry, entryHash, commit } = again ?? app;
  if (app.wantedId)
    await endDeployment(deps, tx, app.wantedId, "stopped", `Deployment ${number} replaced it.`);
  const deploymentId = randomUUID();
  const error = await findProblem(deps, tx, { ...app, entry, commit }, project, tree);
  const [live] =
    liveId === null
      ? []
      : await tx.select().from(appDeployments).where(eq(appDeployments.deploymentId, liveId));
  const now = deps.clock();
  const [deployment] = await tx
    .insert(appDeployments)
    .values({
      deploymentId,
      appId,
      number,
      state: error === null ? "building" : "failed",
      reason,
      commit,
      entry,
      entryHash,
      tree,
      error,
      createdBy: by?.userId ?? null,
      createdActor: by && actorOf(by),
      previousCommit: live?.commit ?? null,
      rollbackTo: again?.number ?? null,
      createdAt: now,
      ...(error !== null && { endedAt: now }),
    })
    .returning();
  if (!deployment) throw new Error("the insert of a deployment returned no row");
  // one with a volume starts when no other deployment has it (`reconcile.ts`)
  if (error === null && hasSandbox(entry) && !usesVolume({ entry })) {
    const run = { ...project, runId: deploymentId, provider: deps.sandboxes.defaultName };
    await addRun(deps, tx, deploymentRuns, run);
  }
  const event = error === null ? "deployment.started" : "deployment.failed";
  await recordDeploymentEvent(deps, tx, deploymentId, event);
  await tx
    .update(apps)
    .set({ deploymentCount: number, wantedId: error === null ? deploymentId : null, updatedAt: now })
    .where(eq(apps.appId, appId));
  await deleteOld(deps, tx, appId);
  return deployment;
}

/** Why the app cannot be deployed; null: it can. */
async function findProblem(
  deps: Deps,
  tx: Db,
  { appId, slug, crId, entry, commit }: Pick<AppRow, "appId" | "slug" | "crId" | "entry" | "commit">,
  { accountId }: ProjectRow,
  tree: string | null,
): Promise<string | null> {
  if (slug === "xn") return `The app name "xn" is not valid: browsers treat it as an encoded name.`;
  if (tree === null)
    return `The folder ${entry.rootPath}, the app's root_path, does not exist in the commit ${commit.slice(0, 12)}.`;
  if (usesVolume({ entry }) && !(await canHaveVolume(deps, tx, appId)))
    return "Volumes are not supported on Kubernetes yet. Remove volume from [apps.run], or run apps with another provider.";
  // a preview waits for room before it is deployed (`previews/room.ts`)
  if (!hasSandbox(entry) || crId !== null) return null;
  const limit = deps.config.appCap;
  // lock the account, so that two transactions cannot take the last slot
  await lockAccount(tx, accountId);
  const others = await tx
    .selectDistinct({ appId: appDeployments.appId })
    .from(appDeployments)
    .innerJoin(apps, eq(apps.appId, appDeployments.appId))
    .innerJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(
      and(
        eq(runs.accountId, accountId),
        inArray(runs.status, [...LIVE_STATUSES]),
        ne(appDeployments.appId, appId),
        isNull(apps.crId),
      ),
    );
  if (others.length < limit) return null;
  return `The account runs ${others.length} apps; its limit is ${limit}. Stop one first: svc apps stop <slug>`;
}

/** Whether an app has a volume, on any server, or this one can create it. */
async function canHaveVolume({ sandboxes }: Deps, tx: Db, appId: string): Promise<boolean> {
  if (sandboxes.get(sandboxes.defaultName)?.volumes) return true;
  return (await tx.$count(volumes, eq(volumes.appId, appId))) > 0;
}

/** Deletes the oldest ended deployments and their logs. */
async function deleteOld(deps: Deps, tx: Db, appId: string): Promise<void> {
  const over = await tx
    .select({ id: appDeployments.deploymentId })
    .from(appDeployments)
    .where(
      and(eq(appDeployments.appId, appId), inArray(appDeployments.state, ["retired", "failed", "stopped"])),
    )
    .orderBy(desc(appDeployments.number))
    .offset(KEPT);
  for (const { id } of over) await setGoal(deps, tx, deploymentRuns, id, { goal: "deleted" });
  const ids = over.map(({ id }) => id);
  if (ids.length > 0) await tx.delete(appDeployments).where(inArray(appDeployments.deploymentId, ids));
}
