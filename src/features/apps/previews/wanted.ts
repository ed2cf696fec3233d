import { and, eq, isNull, notExists, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "../../../../db/client.ts";
import { apps, changeRequests } from "../../../../db/schema/index.ts";

/** An app of the default branch whose entry says `previews = true`: only what was merged decides that. */
export const bases = alias(apps, "bases");
export const hasPreviews = and(
  isNull(bases.crId),
  eq(bases.presence, "enabled"),
  sql`${bases.entry}->'previews' = 'true'::jsonb`,
);

/** A change request that has previews. */
export const isPreviewed = and(eq(changeRequests.status, "open"), eq(changeRequests.draft, false));

/** A preview in `apps` whose change request has ended or became a draft, or whose app has no previews any more. */
export function isUnwanted(db: Db) {
  const cr = db
    .select({ one: sql`1` })
    .from(changeRequests)
    .where(and(eq(changeRequests.crId, apps.crId), isPreviewed));
  const base = db
    .select({ one: sql`1` })
    .from(bases)
    .where(and(eq(bases.projectId, apps.projectId), eq(bases.slug, apps.slug), hasPreviews));
  return and(sql`${apps.crId} is not null`, or(notExists(cr), notExists(base)));
}

/** A pair of a change request and an app in `bases` whose preview is not that of the change request's head. */
export function isUnprepared(db: Db) {
  const preview = db
    .select({ one: sql`1` })
    .from(apps)
    .where(
      and(
        eq(apps.crId, changeRequests.crId),
        eq(apps.slug, bases.slug),
        eq(apps.commit, changeRequests.headCommitSha),
      ),
    );
  return and(isPreviewed, sql`${changeRequests.headCommitSha} is not null`, hasPreviews, notExists(preview));
}
