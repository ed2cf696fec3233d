import { and, eq, type SQL } from "drizzle-orm";
import { appDomains } from "../../../../db/schema/index.ts";
import type { AppDomain } from "../../../contract/app-domain.ts";
import type { Deps } from "../../../deps.ts";
import { previewSite } from "../site.ts";
import { GRACE_MS } from "./grace.ts";
import { recordOf } from "./proof.ts";

export type DomainRow = typeof appDomains.$inferSelect;
export type DomainKey = Pick<DomainRow, "accountId" | "domain">;

/** The condition for one row. */
export function isIt({ accountId, domain }: DomainKey): SQL | undefined {
  return and(eq(appDomains.accountId, accountId), eq(appDomains.domain, domain));
}

/** Whether the proof of a domain is there, or was until a few days ago. */
export function isProven(
  { clock }: Pick<Deps, "clock">,
  { provenAt, lostAt }: Pick<DomainRow, "provenAt" | "lostAt">,
): boolean {
  return provenAt !== null && (lostAt === null || clock().getTime() < lostAt.getTime() + GRACE_MS);
}

/** The address of an app at a domain of its own. */
export function urlOf({ config }: Pick<Deps, "config">, domain: string): string {
  const { protocol, port } = new URL(config.publicUrl);
  return `${protocol}//${domain}${port === "" ? "" : `:${port}`}/`;
}

export function toWire(
  deps: Pick<Deps, "config" | "api" | "keys" | "clock">,
  row: DomainRow,
  app: { label: string; isPublic: boolean },
): AppDomain {
  const isServed = isProven(deps, row);
  const { domain, lostAt } = row;
  return {
    domain,
    state: !isServed ? "waiting" : lostAt === null ? "proven" : "lost",
    problem: row.problem,
    record: recordOf(deps, row),
    target: `${app.label}.${previewSite(deps).host.replace(/:\d+$/, "")}`,
    url: isServed && app.isPublic ? urlOf(deps, domain) : null,
    served_until: isServed && lostAt !== null ? new Date(lostAt.getTime() + GRACE_MS).toISOString() : null,
    checked_at: row.checkedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}
