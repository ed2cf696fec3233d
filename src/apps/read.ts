import { and, asc, desc, eq, inArray, ne } from "drizzle-orm";
import { appDeployments, apps, projectSessions } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { App, AppWithDeployments } from "../contract/app.ts";
import type { Deps } from "../deps.ts";
import { type AppRow, type DeploymentRow, findAppBySlug } from "./rows.ts";
import { type AppView, deploymentToWire, toWire } from "./wire.ts";

/** Deployments that are told with an app: about all that are kept. */
const TOLD = 20;

/** The project's apps, by their slugs. */
export async function listApps(deps: Deps, { projectId }: ProjectRow): Promise<{ apps: App[] }> {
  const rows = await deps.db
    .select()
    .from(apps)
    .where(and(eq(apps.projectId, projectId), ne(apps.presence, "gone")))
    .orderBy(asc(apps.slug));
  return { apps: (await viewsOf(deps, rows)).map((view) => toWire(deps, view)) };
}

/** One app with its last deployments. @throws not_found */
export async function getApp(deps: Deps, project: ProjectRow, slug: string): Promise<AppWithDeployments> {
  const row = await findAppBySlug(deps.db, project, slug);
  const deployments = await deps.db
    .select()
    .from(appDeployments)
    .where(eq(appDeployments.appId, row.appId))
    .orderBy(desc(appDeployments.number))
    .limit(TOLD);
  return { app: await readApp(deps, row), deployments: deployments.map(deploymentToWire) };
}

/** One app as it crosses the wire. */
export async function readApp(deps: Deps, row: AppRow): Promise<App> {
  const [view] = await viewsOf(deps, [row]);
  if (!view) throw new Error("an app has no view");
  return toWire(deps, view);
}

async function viewsOf(deps: Deps, rows: readonly AppRow[]): Promise<AppView[]> {
  if (rows.length === 0) return [];
  const ofApps = inArray(
    appDeployments.appId,
    rows.map(({ appId }) => appId),
  );
  const newest = await deps.db
    .selectDistinctOn([appDeployments.appId])
    .from(appDeployments)
    .where(ofApps)
    .orderBy(appDeployments.appId, desc(appDeployments.number));
  const named = rows.flatMap(({ liveId, wantedId }) => [liveId, wantedId]).filter((id) => id !== null);
  const served = await deps.db
    .select({ deployment: appDeployments, session: projectSessions })
    .from(appDeployments)
    .leftJoin(projectSessions, eq(projectSessions.sessionId, appDeployments.deploymentId))
    .where(inArray(appDeployments.deploymentId, named));
  const find = (id: string | null) => served.find(({ deployment }) => deployment.deploymentId === id) ?? null;
  const last = new Map<string, DeploymentRow>(newest.map((row) => [row.appId, row]));
  return rows.map((app) => {
    const live = find(app.liveId);
    return {
      app,
      live: live?.deployment ?? null,
      wanted: find(app.wantedId)?.deployment ?? null,
      last: last.get(app.appId) ?? null,
      session: live?.session ?? null,
    };
  });
}
