import { randomBytes } from "node:crypto";
import { and, eq, gt, lt } from "drizzle-orm";
import { appLinks } from "../../db/schema/index.ts";
import type { Caller, ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { PREVIEW_LINK_LIFE_S, type Preview } from "../contract/preview.ts";
import { PREVIEW_LINK_PREFIX } from "../contract/token.ts";
import type { Deps } from "../deps.ts";
import { findAppBySlug } from "./rows.ts";
import { originOf } from "./site.ts";

/** Links of one app that nobody has used yet: a page of them, and no more to keep. */
const LINKS_MAX = 100;

/** Makes a link that signs one browser in to an app. @throws not_found, rate_limited */
export async function makeAppLink(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
): Promise<Preview> {
  const { appId, label } = await findAppBySlug(deps.db, project, slug);
  const now = deps.clock();
  await deps.db.delete(appLinks).where(lt(appLinks.expiresAt, now));
  if ((await deps.db.$count(appLinks, eq(appLinks.appId, appId))) >= LINKS_MAX) {
    const sentence = `The app has ${LINKS_MAX} links that nobody has opened. Open one, or wait until they expire.`;
    throw new SvcError("rate_limited", sentence, {}, { "Retry-After": String(PREVIEW_LINK_LIFE_S) });
  }
  const token = PREVIEW_LINK_PREFIX + randomBytes(32).toString("base64url");
  const expiresAt = new Date(now.getTime() + PREVIEW_LINK_LIFE_S * 1000);
  await deps.db.insert(appLinks).values({
    hash: deps.keys.hashToken(token),
    appId,
    userId: caller.userId,
    role: caller.kind === "user" ? "user" : "agent",
    expiresAt,
  });
  return { url: `${originOf(deps, label)}/?token=${token}`, expires_at: expiresAt.toISOString() };
}

/**
 * Uses a link's token up: whoever asks first, of all servers on one database, is signed in.
 * @returns null when it was used, has expired, or is another app's
 */
export async function spendAppLink(
  deps: Pick<Deps, "db" | "keys" | "clock">,
  token: string,
  appId: string,
): Promise<{ userId: string; role: "user" | "agent" } | null> {
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
