import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { appDeployments, appDomains, apps, runs, volumes } from "../../../db/schema/index.ts";
import type { App, AppList, AppWithDeployments, Deployment } from "../../contract/app.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../http/page.ts";
import { namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isRoom } from "./previews/room.ts";
import { type AppName, type AppRow, type DeploymentRow, findAppByName } from "./rows.ts";
import { type AppView, deploymentToWire, isWaiting, toWire } from "./wire.ts";

type View = Pick<Deps, "db" | "config" | "api">;

/** Deployments that are returned with an app. */
const DEPLOYMENTS_MAX = 20;

/** An answer is one snapshot: between two queries a deployment may end. */
const SNAPSHOT = { isolationLevel: "repeatable read", accessMode: "read only" } as const;

/** The project's apps, by their slugs; or the previews of one of its change requests. */
export async function listApps(
  deps: View,
  { projectId }: ProjectRow,
  crId: string | null = null,
): Promise<AppList> {
  const views = await deps.db.transaction(async (tx) => {
    const rows = await tx
      .select()
      .from(apps)
      .where(
        and(
          eq(apps.projectId, projectId),
          crId === null ? isNull(apps.crId) : eq(apps.crId, crId),
          ne(apps.presence, "gone"),
        ),
      )
      .orderBy(asc(apps.slug));
    return await viewsOf(deps, tx, rows);
  }, SNAPSHOT);
  return { apps: views.map((view) => toWire(deps, view)) };
}

/** One app with its last deployments. @throws not_found */
export async function getApp(
  deps: View,
  project: Pick<ProjectRow, "projectId">,
  name: AppName,
): Promise<Omit<AppWithDeployments, "problem">> {
  return await deps.db.transaction(async (tx) => {
    const row = await findAppByName(tx, project, name);
    const deployments = await newestOf(tx, row, { limit: DEPLOYMENTS_MAX });
    return { app: await appOf(deps, tx, row), deployments: await allToWire(tx, deployments) };
  }, SNAPSHOT);
}

/** The history of an app: its deployments that are kept, the newest first. @throws not_found, validation_failed */
export async function listDeployments(
  { db }: Pick<Deps, "db">,
  project: Pick<ProjectRow, "projectId">,
  slug: string,
  { limit, cursor }: Page,
): Promise<{ deployments: Deployment[]; next_cursor?: string }> {
  const app = await findAppByName(db, project, slug);
  const before = readCursor(cursor, NUMBER_CURSOR);
  const found = await newestOf(db, app, {
    limit: limit + 1,
    before: before === null ? null : Number(before),
  });
  const { rows, next } = page(found, limit, ({ number }) => String(number));
  return { deployments: await allToWire(db, rows), ...next };
}

async function newestOf(
  db: Db,
  { appId }: AppRow,
  { limit, before = null }: { limit: number; before?: number | null },
): Promise<DeploymentRow[]> {
  const { number } = appDeployments;
  return await db
    .select()
    .from(appDeployments)
    .where(and(eq(appDeployments.appId, appId), before === null ? undefined : lt(number, before)))
    .orderBy(desc(number))
    .limit(limit);
}

async function allToWire(db: Db, rows: readonly DeploymentRow[]): Promise<Deployment[]> {
  const names = await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => deploymentToWire(row, names));
}

/** One app as the API returns it. @throws not_found */
export async function readApp(deps: View, appId: string): Promise<App> {
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx.select().from(apps).where(eq(apps.appId, appId));
    if (!row) throw new SvcError("not_found", "The app has been deleted.");
    return await appOf(deps, tx, row);
  }, SNAPSHOT);
}

async function appOf(deps: View, tx: Db, row: AppRow): Promise<App> {
  const [view] = await viewsOf(deps, tx, [row]);
  if (!view) throw new Error("an app has no view");
  return toWire(deps, view);
}

async function viewsOf(deps: View, tx: Db, rows: readonly AppRow[]): Promise<AppView[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ appId }) => appId);
  const newest = await tx
    .selectDistinctOn([appDeployments.appId])
    .from(appDeployments)
    .where(inArray(appDeployments.appId, ids))
    .orderBy(appDeployments.appId, desc(appDeployments.number));
  const named = rows.flatMap(({ liveId, wantedId }) => [liveId, wantedId]).filter((id) => id !== null);
  const served = await tx
    .select({ deployment: appDeployments, run: runs })
    .from(appDeployments)
    .leftJoin(runs, eq(runs.runId, appDeployments.deploymentId))
    .where(inArray(appDeployments.deploymentId, named));
  const find = (id: string | null) => served.find(({ deployment }) => deployment.deploymentId === id) ?? null;
  const names = await namesOf(
    tx,
    served.map(({ deployment }) => deployment.createdBy),
  );
  const proven = await tx
    .selectDistinctOn([appDomains.appId], { appId: appDomains.appId, domain: appDomains.domain })
    .from(appDomains)
    .where(and(inArray(appDomains.appId, ids), isNotNull(appDomains.provenAt)))
    .orderBy(appDomains.appId, appDomains.domain);
  const kept = await tx
    .select({ appId: volumes.appId, bytes: volumes.bytes })
    .from(volumes)
    .where(inArray(volumes.appId, ids));
  const waiting = new Set<string>();
  for (const row of rows)
    if (isWaiting(row) && row.wantedId === null && !(await isRoom(deps, tx, row))) waiting.add(row.appId);
  const last = new Map<string, DeploymentRow>(newest.map((row) => [row.appId, row]));
  return rows.map((app) => {
    const live = find(app.liveId);
    return {
      app,
      live: live?.deployment ?? null,
      wanted: find(app.wantedId)?.deployment ?? null,
      last: last.get(app.appId) ?? null,
      domain: proven.find(({ appId }) => appId === app.appId)?.domain ?? null,
      volume: kept.find(({ appId }) => appId === app.appId) ?? null,
      run: live?.run ?? null,
      names,
      waitsForRoom: waiting.has(app.appId),
    };
  });
}
