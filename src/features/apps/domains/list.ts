import { and, asc, eq } from "drizzle-orm";
import { appDomains } from "../../../../db/schema/index.ts";
import type { AppDomain } from "../../../contract/app-domain.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { isPublic } from "../access.ts";
import { type AppRow, findAppByName } from "../rows.ts";
import { toWire } from "./rows.ts";

type View = Pick<Deps, "db" | "config" | "api" | "keys" | "clock">;

/** The domains of an app, by their names. @throws not_found */
export async function listDomains(
  deps: View,
  project: ProjectRow,
  slug: string,
): Promise<{ domains: AppDomain[] }> {
  const app = await findAppByName(deps.db, project, slug);
  const rows = await deps.db
    .select()
    .from(appDomains)
    .where(eq(appDomains.appId, app.appId))
    .orderBy(asc(appDomains.domain));
  return { domains: rows.map((row) => toWire(deps, row, viewOf(deps, app))) };
}

/** One domain of an app. @param domain normalized. @throws not_found */
export async function readOne(deps: View, app: AppRow, domain: string): Promise<AppDomain> {
  const isIt = and(eq(appDomains.appId, app.appId), eq(appDomains.domain, domain));
  const [row] = await deps.db.select().from(appDomains).where(isIt);
  if (row) return toWire(deps, row, viewOf(deps, app));
  throw noDomain(app.slug, domain);
}

/** The error for a domain that an app does not have. */
export function noDomain(slug: string, domain: string): SvcError {
  const sentence = `The app ${slug} does not have the domain ${domain}. List its domains with: svc apps domains ls ${slug}`;
  return new SvcError("not_found", sentence);
}

const viewOf = (deps: View, app: AppRow) => ({ label: app.label, isPublic: isPublic(deps, app) });
