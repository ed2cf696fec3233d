import { and, eq, inArray, isNotNull, or } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, apps, projects, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { addRun, startAgain } from "../runs/goal.ts";
import type { RunRow } from "../runs/row.ts";
import { deployIfChanged } from "./auto-deploy.ts";
import { endDeployment, stopSandbox } from "./end.ts";
import { deploymentRuns } from "./kind.ts";
import { type AppRow, appChange, type DeploymentRow, findApp, hasSandbox, lockApp } from "./rows.ts";
import { checkSite, type SiteCheck } from "./static/check.ts";
import { takeVolume, usesVolume } from "./volumes/take.ts";
import { recordDeploymentEvent } from "./webhook.ts";

/** How long a replaced deployment keeps running to finish its requests; then they are cut off. */
const DRAIN_MS = 30_000;
/** A live app whose sandbox died is restarted after this, doubled each time up to the maximum. */
const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 5 * 60_000;
/** A sandbox that ran this long resets the backoff. */
const HEALTHY_MS = 10 * 60_000;

/**
 * The one job of an app: creates deployments, serves the one that answers, and ends those that are replaced. It decides
 * in one transaction that locks the app's row, from the rows of the runs. So it is idempotent, and any number of
 * servers may run it at once.
 *
 * 1. A change of the default branch records entry and commit (`apply.ts`) and enqueues this job.
 * 2. A changed entry or folder creates a deployment (`create.ts`) and ends one that is in progress.
 * 3. The daemon builds and runs the app; each change of its run enqueues this job again (`kind.ts`).
 * 4. A deployment that answers becomes live, and the one before it ends after half a minute. One that failed changes
 *    nothing; a live one that died is restarted with backoff.
 * 5. A deployment with a volume starts once the one that has the volume has ended (`volumes/`). If it fails, the live one,
 *    which was stopped for it, is restarted like one that died.
 *
 * @param id of the app, or of one of its deployments
 */
export async function reconcileApp(deps: Deps, id: string): Promise<void> {
  const found = await findApp(deps.db, id);
  if (!found) return;
  await deployIfChanged(deps, found.app, found.project);
  const site = await checkSite(deps, found);
  const touched = await deps.db.transaction((tx) => reconcile(deps, tx, found.app.appId, site));
  for (const sessionId of touched) deps.changes.notify(sessionId);
  if (touched.length > 0) await deps.checkpoint("deploy-settled");
}

/**
 * @param tx changes are published, so this must be its last statement
 * @returns the deployments whose runs may have another goal now
 */
export async function reconcile(
  deps: Deps,
  tx: Db,
  appId: string,
  site: SiteCheck | null = null,
): Promise<string[]> {
  const app = await lockApp(tx, appId);
  if (!app) return [];
  const open = await openDeployments(tx, app);
  const touched = [
    ...(await endUnwanted(deps, tx, app, open)),
    ...(await startWithVolume(deps, tx, app, open)),
    ...(await promote(deps, tx, app, open, site)),
  ];
  // another deployment may be the live one by now
  const settled = (await lockApp(tx, appId)) ?? app;
  touched.push(...(await restartDead(deps, tx, settled, open)), ...(await endDrained(deps, tx, open)));
  if (touched.some(({ isAnnounced }) => isAnnounced)) {
    await tx.update(apps).set({ updatedAt: deps.clock() }).where(eq(apps.appId, appId));
    await publish(tx, app.projectId, appChange(app));
  }
  return touched.map(({ id }) => id);
}

interface Open {
  deployment: DeploymentRow;
  run: RunRow | null;
}

/** A deployment that was changed, and whether to announce that. */
interface Touched {
  id: string;
  isAnnounced: boolean;
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

/** Ends all deployments of an app that is stopped, disabled or removed. The latter two end a rollback, too. */
async function endUnwanted(deps: Deps, tx: Db, app: AppRow, open: readonly Open[]): Promise<Touched[]> {
  if (isServable(app)) return [];
  const why = app.isStopped
    ? null
    : app.crId !== null
      ? "The head of the change request no longer has the app."
      : `The app is ${app.presence === "gone" ? "no longer in" : "disabled in"} the manifest.`;
  for (const { deployment } of open) {
    const isServed = [app.liveId, app.wantedId].includes(deployment.deploymentId);
    if (isServed) await endDeployment(deps, tx, deployment.deploymentId, "stopped", why);
  }
  await set(tx, app, {
    liveId: null,
    wantedId: null,
    ...(app.presence !== "enabled" && { isPinned: false }),
  });
  return open.map(({ deployment }) => ({ id: deployment.deploymentId, isAnnounced: true }));
}

/** Starts the next deployment if it needs the volume, and stops the one that still has the volume. */
async function startWithVolume(deps: Deps, tx: Db, app: AppRow, open: readonly Open[]): Promise<Touched[]> {
  const wanted = wantedOf(app, open);
  if (!wanted || !usesVolume(wanted.deployment) || wanted.run || !isServable(app)) return [];
  const { deploymentId: id } = wanted.deployment;
  const take = await takeVolume(deps, tx, app, id);
  if (take.kind === "gone") {
    await endDeployment(deps, tx, id, "failed", take.error);
    await set(tx, app, { wantedId: null });
    return [{ id, isAnnounced: true }];
  }
  if (take.kind === "busy") {
    const { runId, goal } = take.run;
    // each change of a goal enqueues this job
    if (goal !== "running") return [];
    await stopSandbox(deps, tx, runId);
    return [{ id: runId, isAnnounced: true }];
  }
  const [project] = await tx.select().from(projects).where(eq(projects.projectId, app.projectId));
  if (!project) throw new Error("an app has no project");
  const { provider, place } = take.volume;
  await addRun(deps, tx, deploymentRuns, { ...project, runId: id, provider }, place);
  return [{ id, isAnnounced: false }];
}

/** @returns false: not now, since another deployment has its volume */
async function startRunAgain(deps: Deps, tx: Db, app: AppRow, { deployment, run }: Open): Promise<boolean> {
  if (!run) return false;
  const take = usesVolume(deployment) ? await takeVolume(deps, tx, app, run.runId) : null;
  if (take && take.kind !== "taken") return false;
  await startAgain(deps, tx, deploymentRuns, run, take?.volume.place);
  return true;
}

/** Serves the next deployment as soon as it answers. A failed one leaves the live one as it is. */
async function promote(
  deps: Deps,
  tx: Db,
  app: AppRow,
  open: readonly Open[],
  site: SiteCheck | null,
): Promise<Touched[]> {
  const wanted = wantedOf(app, open);
  if (!wanted) return [];
  const { deployment } = wanted;
  const { deploymentId: id } = deployment;
  const verdict = verdictOn(wanted, site);
  if (verdict.kind === "wait") return [];
  if (verdict.kind === "again")
    return (await startRunAgain(deps, tx, app, wanted)) ? [{ id, isAnnounced: false }] : [];
  if (verdict.kind === "starting") {
    await update(tx, id, { state: "starting" });
    return [{ id, isAnnounced: true }];
  }
  if (verdict.kind === "failed") {
    await endDeployment(deps, tx, id, "failed", verdict.error);
    await set(tx, app, { wantedId: null });
    return [{ id, isAnnounced: true }];
  }
  const now = deps.clock();
  await update(tx, id, { state: "live", liveAt: now, restarts: 0, restartAt: null });
  await recordDeploymentEvent(deps, tx, id, "deployment.live");
  if (app.liveId) {
    const drainUntil = new Date(now.getTime() + DRAIN_MS);
    await update(tx, app.liveId, { state: "retired", endedAt: now, restartAt: null, drainUntil });
  }
  await set(tx, app, { liveId: id, wantedId: null });
  // its site is copied, so its sandbox is no longer needed
  if (deployment.entry.static) await stopSandbox(deps, tx, id);
  return [{ id, isAnnounced: true }];
}

type Verdict = { kind: "wait" | "starting" | "ready" | "again" } | { kind: "failed"; error: string };

function verdictOn({ deployment, run }: Open, site: SiteCheck | null): Verdict {
  if (!hasSandbox(deployment.entry)) {
    if (site?.deploymentId !== deployment.deploymentId) return { kind: "wait" };
    return site.error === null ? { kind: "ready" } : { kind: "failed", error: site.error };
  }
  // it waits for its volume
  if (!run && usesVolume(deployment)) return { kind: "wait" };
  if (!run) return { kind: "failed", error: "Its sandbox was removed." };
  if (run.status === "running") return { kind: run.goal === "running" ? "ready" : "wait" };
  if (run.status === "failed") return { kind: "failed", error: run.error ?? "The deployment has failed." };
  if (run.status === "stopped") return { kind: "again" };
  const isStarting = run.step === "runtime" && deployment.state === "building";
  return { kind: isStarting ? "starting" : "wait" };
}

/** Restarts the live deployment's sandbox if it died, with backoff. It stays stopped while the next one has its volume. */
async function restartDead(deps: Deps, tx: Db, app: AppRow, open: readonly Open[]): Promise<Touched[]> {
  const live = open.find(({ deployment }) => deployment.deploymentId === app.liveId);
  if (!live?.run || !isServable(app)) return [];
  const { deployment, run } = live;
  if (deployment.entry.static || (run.status !== "failed" && run.status !== "stopped")) return [];
  const wanted = wantedOf(app, open);
  if (wanted && usesVolume(deployment) && usesVolume(wanted.deployment)) return [];
  const { deploymentId: id } = deployment;
  const now = deps.clock().getTime();
  if (deployment.restartAt === null && run.stopReason !== "server") {
    const ran = run.readyAt === null ? 0 : run.updatedAt.getTime() - run.readyAt.getTime();
    const restarts = ran > HEALTHY_MS ? 0 : deployment.restarts;
    const backoff = Math.min(BACKOFF_MS * 2 ** restarts, BACKOFF_MAX_MS);
    await update(tx, id, { restarts: restarts + 1, restartAt: new Date(now + backoff) });
    return [{ id, isAnnounced: true }];
  }
  if (deployment.restartAt !== null && deployment.restartAt.getTime() > now) return [];
  if (!(await startRunAgain(deps, tx, app, live))) return [];
  await update(tx, id, { restartAt: null });
  return [{ id, isAnnounced: true }];
}

/** Stops the sandboxes of replaced deployments after their drain time. */
async function endDrained(deps: Deps, tx: Db, open: readonly Open[]): Promise<Touched[]> {
  const now = deps.clock();
  const over = open.filter(({ deployment: { drainUntil } }) => drainUntil !== null && drainUntil <= now);
  for (const { deployment } of over) {
    await update(tx, deployment.deploymentId, { drainUntil: null });
    await stopSandbox(deps, tx, deployment.deploymentId);
  }
  return over.map(({ deployment }) => ({ id: deployment.deploymentId, isAnnounced: false }));
}

function wantedOf({ wantedId }: AppRow, open: readonly Open[]): Open | null {
  return open.find(({ deployment }) => deployment.deploymentId === wantedId) ?? null;
}

function isServable({ presence, isStopped }: AppRow): boolean {
  return presence === "enabled" && !isStopped;
}

async function update(tx: Db, id: string, values: Partial<DeploymentRow>): Promise<void> {
  await tx.update(appDeployments).set(values).where(eq(appDeployments.deploymentId, id));
}

async function set(
  tx: Db,
  { appId }: AppRow,
  values: Pick<Partial<AppRow>, "liveId" | "wantedId" | "isPinned">,
): Promise<void> {
  await tx.update(apps).set(values).where(eq(apps.appId, appId));
}
