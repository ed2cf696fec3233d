import { and, eq, isNotNull } from "drizzle-orm";
import { appDomains, apps } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { isPublic } from "../access.ts";
import { isProven } from "./rows.ts";

/** The app at a domain that an account has proved. */
export interface AtDomain {
  /** The first label of the app's own host name. */
  label: string;
  /** Whether the app is public, and the proof of the domain is there. */
  isServed: boolean;
}

/** Finds the app at a domain; null when no account has proved the domain. @param domain normalized */
export async function findAtDomain(
  deps: Pick<Deps, "db" | "config" | "clock">,
  domain: string,
): Promise<AtDomain | null> {
  const { provenAt, lostAt } = appDomains;
  const [row] = await deps.db
    .select({ app: apps, proof: { provenAt, lostAt } })
    .from(appDomains)
    .innerJoin(apps, eq(apps.appId, appDomains.appId))
    .where(and(eq(appDomains.domain, domain), isNotNull(provenAt)));
  if (!row) return null;
  return { label: row.app.label, isServed: isPublic(deps, row.app) && isProven(deps, row.proof) };
}
