import { eq, getTableColumns } from "drizzle-orm";
import { appDeployments, apps, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { AppRow, DeploymentRow } from "../../features/apps/rows.ts";
import { type ReachedRun, reachRun } from "../../features/runs/reach.ts";
import type { Visitor } from "../../identity/auth/browser-link.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { createCache } from "../../lib/cache.ts";
import { CACHE_MAX, CACHE_MS, requireMember } from "./admission.ts";
import { visitorOf } from "./preview-cookie.ts";

/** An admitted visitor of an app, and the deployment that serves it. */
export interface AppVisit extends Visitor {
  app: AppRow;
  /** Null when the app has no live deployment. */
  live: DeploymentRow | null;
  /** Its sandbox; null for a static site. */
  reached: ReachedRun | null;
}

/**
 * Admits a browser to an app by its cookies. The cache time is shorter than a replaced deployment keeps running, so that
 * no request goes to one that has ended.
 * @throws unauthorized; forbidden for a former member
 */
export type AppAdmission = (cookies: readonly string[], label: string) => AppVisit | Promise<AppVisit>;

export function createAppAdmission(deps: Deps): AppAdmission {
  const isReady = ({ live, reached }: AppVisit) =>
    live !== null &&
    (reached === null || (reached.run.status === "running" && isWithinReach(deps, reached.run)));
  const once = createCache({ keepMs: CACHE_MS, max: CACHE_MAX }, isReady);

  return (cookies, label) => {
    if (cookies.length === 0) throw signInFirst();
    return once(`${label} ${cookies.join(" ")}`, () => admit(deps, cookies, label));
  };
}

/** An app's cookie is like that of a preview, with port 0. */
export function placeOfApp({ appId }: Pick<AppRow, "appId">): { sessionId: string; port: number } {
  return { sessionId: appId, port: 0 };
}

/** The app with a host label; null when there is none. */
export async function findAppAt(
  { db }: Pick<Deps, "db">,
  label: string,
): Promise<(AppRow & { accountId: string }) | null> {
  const [app] = await db
    .select({ ...getTableColumns(apps), accountId: projects.accountId })
    .from(apps)
    .innerJoin(projects, eq(projects.projectId, apps.projectId))
    .where(eq(apps.label, label));
  return app ?? null;
}

async function admit(deps: Deps, cookies: readonly string[], label: string): Promise<AppVisit> {
  const app = await findAppAt(deps, label);
  const place = app && placeOfApp(app);
  const visitor = place && visitorOf(deps, cookies, place);
  if (!visitor) throw signInFirst();
  await requireMember(deps, app.accountId, visitor);
  const [live] =
    app.liveId === null
      ? []
      : await deps.db.select().from(appDeployments).where(eq(appDeployments.deploymentId, app.liveId));
  const reached = live?.entry.run ? await reachRun(deps, live.deploymentId) : null;
  return { ...visitor, app, live: live ?? null, reached };
}

/** The error for a browser that is not signed in, or whose link was used before; the same for unknown apps. */
function signInFirst(): SvcError {
  const sentence =
    "Only members of the project can open its apps. Get a sign-in link, which works once, with: svc apps open <slug>";
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}
