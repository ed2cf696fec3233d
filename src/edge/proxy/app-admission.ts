import { eq, getTableColumns } from "drizzle-orm";
import { appDeployments, apps, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { isPublic } from "../../features/apps/access.ts";
import { findAtDomain } from "../../features/apps/domains/find.ts";
import { recordVisit } from "../../features/apps/previews/visit.ts";
import type { AppRow, DeploymentRow } from "../../features/apps/rows.ts";
import { type ReachedRun, reachRun } from "../../features/runs/reach.ts";
import type { Visitor } from "../../identity/auth/browser-link.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { createCache } from "../../lib/cache.ts";
import { CACHE_MAX, CACHE_MS, isMember, requireMember } from "./admission.ts";
import { isSigned, visitorOf } from "./preview-cookie.ts";

/** An admitted visit of an app, and the deployment that serves it. */
export interface AppVisit {
  app: AppRow;
  /** The member who has signed in; null for any other visitor, who may open public apps. */
  visitor: Visitor | null;
  /** Null when the app has no live deployment. */
  live: DeploymentRow | null;
  /** Its sandbox; null for a static site. */
  reached: ReachedRun | null;
}

/**
 * Admits a browser to an app by its cookies. The cache time is shorter than a replaced deployment keeps running, so that
 * no request goes to one that has ended.
 * @throws unauthorized; forbidden for a former member, unless the app is public
 */
export type AppAdmission = (cookies: readonly string[], label: string) => AppVisit | Promise<AppVisit>;

export function createAppAdmission(deps: Deps): AppAdmission {
  // the requests of strangers must not reach the database, whatever the app's state
  const isKept = ({ visitor, live, reached }: AppVisit) =>
    visitor === null ||
    (live !== null &&
      (reached === null || (reached.run.status === "running" && isWithinReach(deps, reached.run))));
  const once = createCache({ keepMs: CACHE_MS, max: CACHE_MAX }, isKept);

  return (given, label) => {
    // others would fill the cache: a stranger can send any
    const cookies = given.filter((cookie) => isSigned(deps, cookie));
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

/** Whether strangers may open the app now. @param name its host label, or a domain, which has a dot */
export async function isOpenAt(deps: Pick<Deps, "db" | "config" | "clock">, name: string): Promise<boolean> {
  if (name.includes(".")) return (await findAtDomain(deps, name))?.isServed ?? false;
  const app = await findAppAt(deps, name);
  return app !== null && isPublic(deps, app);
}

async function admit(deps: Deps, cookies: readonly string[], label: string): Promise<AppVisit> {
  const app = await findAppAt(deps, label);
  if (!app) throw signInFirst();
  const visitor = await admitVisitor(deps, app, visitorOf(deps, cookies, placeOfApp(app)));
  await recordVisit(deps, app);
  const [live] =
    app.liveId === null
      ? []
      : await deps.db.select().from(appDeployments).where(eq(appDeployments.deploymentId, app.liveId));
  const reached = live?.entry.run ? await reachRun(deps, live.deploymentId) : null;
  return { app, visitor, live: live ?? null, reached };
}

/** @returns null for a stranger of a public app, also if the cookie is that of a former member */
async function admitVisitor(
  deps: Deps,
  app: AppRow & { accountId: string },
  visitor: Visitor | null,
): Promise<Visitor | null> {
  if (isPublic(deps, app))
    return visitor !== null && (await isMember(deps, app.accountId, visitor)) ? visitor : null;
  if (!visitor) throw signInFirst();
  await requireMember(deps, app.accountId, visitor);
  return visitor;
}

/** The error for a browser that is not signed in, or whose link was used before; the same for unknown apps. */
function signInFirst(): SvcError {
  const sentence =
    "Only members of the project can open its apps. Get a sign-in link, which works once, with: svc apps open <slug>; for a preview of a change request: svc cr apps <number> --open";
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}
