import { randomUUID } from "node:crypto";
import { and, eq, ne } from "drizzle-orm";
import { pushBrowsers, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { AddPushBrowserBody, PushBrowser } from "../../contract/notification.ts";
import { PUSH_BROWSERS_MAX } from "../../contract/notification-event.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { OutboundError, readOutboundUrl } from "../../lib/outbound.ts";
import { encrypt } from "./push/encrypt.ts";
import { type BrowserRow, sealSubscription } from "./push/subscription.ts";

/**
 * Switches push on in a browser. The same browser again keeps one row; of two people it belongs to the last one.
 * @throws validation_failed
 */
export async function addBrowser(
  deps: Deps,
  { userId }: Caller,
  body: AddPushBrowserBody,
): Promise<PushBrowser> {
  checkSubscription(deps, body);
  const endpointHash = deps.keys.hashToken(body.endpoint);
  const name = storable("name", body.name?.trim() ?? "Browser", NAME_MAX * 4);
  const row = await deps.db.transaction(async (tx) => {
    // one at a time, so that the limit holds
    await tx.select({ id: users.userId }).from(users).where(eq(users.userId, userId)).for("no key update");
    const isSame = eq(pushBrowsers.endpointHash, endpointHash);
    const others = and(eq(pushBrowsers.userId, userId), ne(pushBrowsers.endpointHash, endpointHash));
    if ((await tx.$count(pushBrowsers, others)) >= PUSH_BROWSERS_MAX)
      throw new SvcError(
        "validation_failed",
        `Push is on in ${PUSH_BROWSERS_MAX} browsers, which is the limit. Remove one under Settings first.`,
      );
    // its deliveries are of the person who had it before
    await tx.delete(pushBrowsers).where(isSame);
    const browserId = randomUUID();
    const subscription = sealSubscription(deps.keys, { userId, browserId }, body);
    const [added] = await tx
      .insert(pushBrowsers)
      .values({ browserId, userId, endpointHash, subscription, name, createdAt: deps.clock() })
      .returning();
    return added;
  });
  if (!row) throw new Error("the insert of a browser returned no row");
  return browserToWire(row);
}

/** Switches push off in a browser of the caller. @throws not_found */
export async function removeBrowser(
  deps: Deps,
  { userId }: Caller,
  browserId: string,
): Promise<{ ok: true }> {
  const gone = await deps.db
    .delete(pushBrowsers)
    .where(and(eq(pushBrowsers.browserId, browserId), eq(pushBrowsers.userId, userId)))
    .returning({ id: pushBrowsers.browserId });
  if (gone.length > 0) return { ok: true };
  throw new SvcError(
    "not_found",
    `You have no browser ${browserId} with push. List yours with: svc notifications set`,
  );
}

export function browserToWire(row: BrowserRow): PushBrowser {
  return {
    browser_id: row.browserId,
    name: row.name,
    created_at: row.createdAt.toISOString(),
    delivered_at: row.deliveredAt?.toISOString() ?? null,
    error: row.error,
  };
}

/** @throws validation_failed for an address that svc does not send to, and for a key that is none */
function checkSubscription({ config }: Pick<Deps, "config">, { endpoint, keys }: AddPushBrowserBody): void {
  try {
    readOutboundUrl(endpoint, config.allowPrivateAddresses);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new SvcError("validation_failed", `The endpoint cannot be used. ${error.message}`, {
      details: [{ path: "endpoint", message: error.message }],
    });
  }
  try {
    encrypt("", { p256dh: Buffer.from(keys.p256dh, "base64url"), auth: Buffer.from(keys.auth, "base64url") });
  } catch {
    const message = "must be a point on the curve P-256";
    throw new SvcError("validation_failed", `keys.p256dh ${message}.`, {
      details: [{ path: "keys.p256dh", message }],
    });
  }
}
