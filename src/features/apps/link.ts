import { and, eq, gt, lt } from "drizzle-orm";
import { appLinks } from "../../../db/schema/index.ts";
import type { Preview } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { newBrowserLink, refuseMoreLinks, type Visitor } from "../../identity/auth/browser-link.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type AppName, findAppByName } from "./rows.ts";
import { originOf } from "./site.ts";

/** Creates a link that signs one browser in to an app. @throws not_found, rate_limited */
export async function makeAppLink(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: AppName,
): Promise<Preview> {
  const { appId, label } = await findAppByName(deps.db, project, name);
  await deps.db.delete(appLinks).where(lt(appLinks.expiresAt, deps.clock()));
  refuseMoreLinks(await deps.db.$count(appLinks, eq(appLinks.appId, appId)), "The app");
  const { token, kept } = newBrowserLink(deps, caller);
  await deps.db.insert(appLinks).values({ ...kept, appId });
  return { url: `${originOf(deps, label)}/?token=${token}`, expires_at: kept.expiresAt.toISOString() };
}

/**
 * Redeems a link's token, which works once on all servers of a database.
 * @returns null when it was used, has expired, or is for another app
 */
export async function redeemAppLink(
  deps: Pick<Deps, "db" | "keys" | "clock">,
  token: string,
  appId: string,
): Promise<Visitor | null> {
  const [used] = await deps.db
    .delete(appLinks)
    .where(
      and(
        eq(appLinks.hash, deps.keys.hashToken(token)),
        eq(appLinks.appId, appId),
        gt(appLinks.expiresAt, deps.clock()),
      ),
    )
    .returning({ userId: appLinks.userId, role: appLinks.role });
  return used ?? null;
}
