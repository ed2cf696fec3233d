import { eq, getTableColumns } from "drizzle-orm";
import { appDeployments, apps, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { AppRow, DeploymentRow } from "../../features/apps/rows.ts";
import { type ReachedRun, reachRun } from "../../features/runs/reach.ts";
import type { Visitor } from "../../identity/auth/browser-link.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { createMemory } from "../../lib/memory.ts";
import { requireMember } from "./door.ts";
import { visitorOf } from "./preview-cookie.ts";

/** Somebody who may use an app, and what answers for it. */
export interface AppVisit extends Visitor {
  app: AppRow;
  /** Null: nothing is served. */
  live: DeploymentRow | null;
  /** Its sandbox; null of a site, which has none. */
  reached: ReachedRun | null;
}

/**
 * How long it is remembered who may use an app and what answers for it: shorter than what was served before goes on, so
 * that nobody is sent to what is no more.
 */
const REMEMBER_MS = 1_000;
/** Visits remembered at once: a bound on the memory of those that nobody makes again. */
const REMEMBERED_MAX = 10_000;

/**
 * Lets a browser in to an app, by its cookies.
 * @throws unauthorized; forbidden for who is no member any more
 */
export type AppDoor = (cookies: readonly string[], label: string) => AppVisit | Promise<AppVisit>;

export function createAppDoor(deps: Deps): AppDoor {
  const isReady = ({ live, reached }: AppVisit) =>
    live !== null &&
    (reached === null || (reached.run.status === "running" && isWithinReach(deps, reached.run)));
  const once = createMemory({ keepMs: REMEMBER_MS, max: REMEMBERED_MAX }, isReady);

  return (cookies, label) => {
    if (cookies.length === 0) throw signInFirst();
    return once(`${label} ${cookies.join(" ")}`, () => admit(deps, cookies, label));
  };
}

/** An app has one cookie, as a preview of one port has: no port is 0. */
export function placeOfApp({ appId }: Pick<AppRow, "appId">): { sessionId: string; port: number } {
  return { sessionId: appId, port: 0 };
}

/** The app that is served at a name; null when none is. */
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

/** The answer to a browser that nobody signed in, or whose link was used before; the same for names of no app. */
function signInFirst(): SvcError {
  const sentence =
    "Only members of the project can open its apps. Get a sign-in link, which works once, with: svc apps open <slug>";
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}
