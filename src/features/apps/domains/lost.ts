import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { accountMembers, apps } from "../../../../db/schema/index.ts";
import { notify } from "../../notifications/record.ts";
import { GRACE_MS } from "./grace.ts";
import type { DomainRow } from "./rows.ts";

type Loss = Pick<DomainRow, "provenAt" | "lostAt">;

/**
 * Notifies the owners and the admins of an account when a check finds that a served domain has lost its proof, and when it is
 * no longer served. @param tx the transaction that records it, before it publishes
 */
export async function notifyOfLoss(tx: Db, before: DomainRow, after: Loss, now: Date): Promise<void> {
  const text = textOf(before, after);
  if (text === null) return;
  const { accountId, appId, domain } = before;
  const [app] = await tx
    .select({ projectId: apps.projectId, slug: apps.slug })
    .from(apps)
    .where(eq(apps.appId, appId));
  if (!app) return;
  const managers = await tx
    .select({ userId: accountMembers.userId })
    .from(accountMembers)
    .where(and(eq(accountMembers.accountId, accountId), inArray(accountMembers.role, ["owner", "admin"])));
  await notify(
    tx,
    {
      ...{
        event: "app.domain_lost",
        projectId: app.projectId,
        of: { appSlug: app.slug },
        title: domain,
        text,
      },
      key: `${accountId} ${domain} ${now.toISOString()}`,
    },
    managers.map(({ userId }) => userId),
  );
}

/** @returns null if nothing was lost */
function textOf(before: Loss, after: Loss): string | null {
  if (before.provenAt === null) return null;
  if (after.provenAt === null) return "svc no longer serves the app at it.";
  if (before.lostAt !== null || after.lostAt === null) return null;
  const until = new Date(after.lostAt.getTime() + GRACE_MS).toISOString().slice(0, 10);
  return `Its TXT record is missing. svc serves the app at it until ${until}, unless the record is back.`;
}
