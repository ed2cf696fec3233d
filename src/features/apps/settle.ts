import { and, eq, inArray, isNotNull, or } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { announce } from "../../events/announce.ts";
import { startAgain } from "../runs/goal.ts";
import type { RunRow } from "../runs/row.ts";
import { considerApp } from "./consider.ts";
import { endDeployment, endItsSandbox } from "./end.ts";
import { deploymentRuns } from "./kind.ts";
import { type AppRow, type DeploymentRow, findApp, hasSandbox, lockApp } from "./rows.ts";
import { lookAtSite, type SiteLook } from "./static/look.ts";

/** What was served last is ended after this: requests that it is still answering are over then, or cut off. */
const DRAIN_MS = 30_000;
/** A live app whose sandbox has died is started again after this, doubled each time up to the longest. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** A sandbox that lived as long as this has not died of what the app is. */
const SOUND_MS = 10 * 60_000;

/**
 * The one job of an app: begins what is to be deployed, serves what answers, and ends what is served no more. All that it
 * decides it decides in one transaction that holds the app's row, from what the rows of the runs say; so
 * any server may do it, any number at once, and cut off anywhere it is done again.
 *
 * 1. A change of the default branch records entry and commit (`apply.ts`) and enqueues this job.
 * 2. A changed entry or folder creates a deployment (`begin.ts`) and ends one that was under way.
 * 3. The daemon builds and runs the app; each change of its run enqueues this job again (`kind.ts`).
 * 4. A deployment that answers becomes live, and the one before it ends after half a minute. One that failed changes
 *    nothing; a live one that died is restarted with backoff.
 *
 * @param id of the app, or of one of its deployments
 */
export async function settleApp(deps: Deps, id: string): Promise<void> {
  const found = await findApp(deps.db, id);
  if (!found) return;
  await considerApp(deps, found.app, found.project);
  const site = await lookAtSite(deps, found);
  const touched = await deps.db.transaction((tx) => settle(deps, tx, found.app.appId, site));
  for (const sessionId of touched) deps.changes.notify(sessionId);
  if (touched.length > 0) await deps.checkpoint("deploy-settled");
}

/**
 * @param tx it announces what it changes, so that this has to be the last of what the transaction does
 * @returns the deployments whose runs have another goal now
 */
export async function settle(
  deps: Deps,
  tx: Db,
  appId: string,
  site: SiteLook | null = null,
): Promise<string[]> {
  const app = await lockApp(tx, appId);
  if (!app) return [];
  const open = await openDeployments(tx, app);
  const touched = [
    ...(await endUnwanted(deps, tx, app, open)),
    ...(await promote(deps, tx, app, open, site)),
    ...(await revive(deps, tx, app, open)),
    ...(await endDrained(deps, tx, open)),
  ];
  if (touched.some(({ isNews }) => isNews)) {
    await tx.update(apps).set({ updatedAt: deps.clock() }).where(eq(apps.appId, appId));
    await announce(tx, app.projectId, { type: "app", id: app.slug, action: "changed" });
  }
  return touched.map(({ id }) => id);
}

interface Open {
  deployment: DeploymentRow;
  run: RunRow | null;
}

/** Something was done about a deployment, which people are to hear of or not. */
interface Touched {
  id: string;
  isNews: boolean;
}

async function openDeployments(tx: Db, { appId, liveId, wantedId }: AppRow): Promise<Open[]> {
  const ids = [liveId, wantedId].filter((id) => id !== null);
  return await tx
    .select({ deployment: appDeployments, run: runs })
    .from(appDeployments)
    .leftJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(
      and(
        eq(appDeployments.appId, appId),
        or(inArray(appDeployments.deploymentId, ids), isNotNull(appDeployments.drainUntil)),
      ),
    );
}

/** An app that is stopped, disabled or gone has nothing that runs. */
async function endUnwanted(deps: Deps, tx: Db, app: AppRow, open: readonly Open[]): Promise<Touched[]> {
  if (app.presence === "enabled" && !app.isStopped) return [];
  const why = app.isStopped
    ? null
    : `The manifest has it ${app.presence === "gone" ? "no more" : "disabled"}.`;
  for (const { deployment } of open) {
    const isServed = [app.liveId, app.wantedId].includes(deployment.deploymentId);
    if (isServed) await endDeployment(deps, tx, deployment.deploymentId, "stopped", why);
  }
  await set(tx, app, { liveId: null, wantedId: null });
  return open.map(({ deployment }) => ({ id: deployment.deploymentId, isNews: true }));
}

/** What was begun becomes what is served as soon as it answers; what has failed leaves what is served as it is. */
async function promote(
  deps: Deps,
  tx: Db,
  app: AppRow,
  open: readonly Open[],
  site: SiteLook | null,
): Promise<Touched[]> {
  const wanted = open.find(({ deployment }) => deployment.deploymentId === app.wantedId);
  if (!wanted) return [];
  const { deployment, run } = wanted;
  const { deploymentId: id } = deployment;
  const verdict = verdictOn(wanted, site);
  if (verdict.kind === "wait") return [];
  if (verdict.kind === "again" && run) {
    await startAgain(deps, tx, deploymentRuns, run);
    return [{ id, isNews: false }];
  }
  if (verdict.kind === "starting") {
    await change(tx, id, { state: "starting" });
    return [{ id, isNews: true }];
  }
  if (verdict.kind === "failed") {
    await endDeployment(deps, tx, id, "failed", verdict.error);
    await set(tx, app, { wantedId: null });
    return [{ id, isNews: true }];
  }
  const now = deps.clock();
  await change(tx, id, { state: "live", liveAt: now, restarts: 0, restartAt: null });
  if (app.liveId) {
    const drainUntil = new Date(now.getTime() + DRAIN_MS);
    await change(tx, app.liveId, { state: "retired", endedAt: now, restartAt: null, drainUntil });
  }
  await set(tx, app, { liveId: id, wantedId: null });
  // its site is taken out, and its sandbox is of no more use
  if (deployment.entry.static) await endItsSandbox(deps, tx, id);
  return [{ id, isNews: true }];
}

type Verdict = { kind: "wait" | "starting" | "ready" | "again" } | { kind: "failed"; error: string };

function verdictOn({ deployment, run }: Open, site: SiteLook | null): Verdict {
  if (!hasSandbox(deployment.entry)) {
    if (site?.deploymentId !== deployment.deploymentId) return { kind: "wait" };
    return site.error === null ? { kind: "ready" } : { kind: "failed", error: site.error };
  }
  if (!run) return { kind: "failed", error: "Its sandbox was taken away." };
  if (run.status === "running") return { kind: run.goal === "running" ? "ready" : "wait" };
  if (run.status === "failed") return { kind: "failed", error: run.error ?? "It has failed." };
  if (run.status === "stopped") return { kind: "again" };
  const isStarting = run.step === "runtime" && deployment.state === "building";
  return { kind: isStarting ? "starting" : "wait" };
}

/** What is served has died: its sandbox is started again, by itself, and later each time. */
async function revive(deps: Deps, tx: Db, app: AppRow, open: readonly Open[]): Promise<Touched[]> {
  const live = open.find(({ deployment }) => deployment.deploymentId === app.liveId);
  if (!live?.run || app.presence !== "enabled" || app.isStopped) return [];
  const { deployment, run } = live;
  if (deployment.entry.static || (run.status !== "failed" && run.status !== "stopped")) return [];
  const { deploymentId: id } = deployment;
  const now = deps.clock().getTime();
  if (deployment.restartAt === null && run.stopReason !== "server") {
    const ran = run.readyAt === null ? 0 : run.updatedAt.getTime() - run.readyAt.getTime();
    const restarts = ran > SOUND_MS ? 0 : deployment.restarts;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** restarts, LONGEST_PAUSE_MS);
    await change(tx, id, { restarts: restarts + 1, restartAt: new Date(now + pause) });
    return [{ id, isNews: true }];
  }
  if (deployment.restartAt !== null && deployment.restartAt.getTime() > now) return [];
  await change(tx, id, { restartAt: null });
  await startAgain(deps, tx, deploymentRuns, run);
  return [{ id, isNews: true }];
}

/** What was served before has had its time. */
async function endDrained(deps: Deps, tx: Db, open: readonly Open[]): Promise<Touched[]> {
  const now = deps.clock();
  const over = open.filter(({ deployment: { drainUntil } }) => drainUntil !== null && drainUntil <= now);
  for (const { deployment } of over) {
    await change(tx, deployment.deploymentId, { drainUntil: null });
    await endItsSandbox(deps, tx, deployment.deploymentId);
  }
  return over.map(({ deployment }) => ({ id: deployment.deploymentId, isNews: false }));
}

async function change(tx: Db, id: string, values: Partial<DeploymentRow>): Promise<void> {
  await tx.update(appDeployments).set(values).where(eq(appDeployments.deploymentId, id));
}

async function set(
  tx: Db,
  { appId }: AppRow,
  values: Pick<Partial<AppRow>, "liveId" | "wantedId">,
): Promise<void> {
  await tx.update(apps).set(values).where(eq(apps.appId, appId));
}
