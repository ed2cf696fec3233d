import { and, eq, gt, isNull, lte, or, sql } from "drizzle-orm";
import { deviceRequests } from "../../../db/schema/index.ts";
import type { DeviceToken } from "../../contract/device.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../auth/audit.ts";
import { originOf } from "../auth/origin.ts";
import { mintToken, tokenCreated } from "../auth/token.ts";
import { hashDeviceCode } from "./codes.ts";

/** What `slow_down` adds to the interval (RFC 8628, 3.5), and the longest interval. */
const SLOW_DOWN_S = 5;
const INTERVAL_MAX_S = 60;
/** Tolerance for network jitter. */
const JITTER_MS = 1_000;

type RequestRow = typeof deviceRequests.$inferSelect;

/**
 * A poll of the program (RFC 8628, 3.4). The token is created only now, so that a program that has given up leaves none.
 * @throws authorization_pending, slow_down, access_denied, expired_token
 */
export async function pollDevice(deps: Deps, request: Request, deviceCode: string): Promise<DeviceToken> {
  const hash = hashDeviceCode(deps.keys, deviceCode);
  const row = await notePoll(deps, hash);
  if (row.status === "denied") throw refusal("access_denied", "The request was denied in the browser.");
  if (row.status === "pending")
    throw refusal("authorization_pending", "The request is not approved yet. Poll again after the interval.");
  return deps.db.transaction(async (tx) => {
    const [taken] = await tx
      .delete(deviceRequests)
      .where(and(eq(deviceRequests.hash, hash), eq(deviceRequests.status, "approved")))
      .returning({ userId: deviceRequests.userId, name: deviceRequests.tokenName });
    if (!taken?.userId || taken.name === null) throw expired();
    const { userId, name } = taken;
    const { row: token, secret } = await mintToken(tx, deps.keys, { userId, name });
    await audit(tx, { userId, origin: originOf(request) }, tokenCreated(token));
    return { access_token: secret, token_type: "bearer", token_id: token.tokenId };
  });
}

/** @throws slow_down for a poll that is too early, expired_token for a code that is unknown, used or expired */
async function notePoll(deps: Deps, hash: string): Promise<RequestRow> {
  const now = deps.clock();
  const isOurs = and(eq(deviceRequests.hash, hash), gt(deviceRequests.expiresAt, now));
  const soonest = new Date(now.getTime() + JITTER_MS);
  const isDue = lte(
    deviceRequests.polledAt,
    sql`${soonest.toISOString()}::timestamptz - make_interval(secs => ${deviceRequests.intervalS})`,
  );
  const [row] = await deps.db
    .update(deviceRequests)
    .set({ polledAt: now })
    .where(and(isOurs, or(isNull(deviceRequests.polledAt), isDue)))
    .returning();
  if (row) return row;
  const [early] = await deps.db
    .update(deviceRequests)
    .set({
      polledAt: now,
      intervalS: sql`least(${deviceRequests.intervalS} + ${SLOW_DOWN_S}::int, ${INTERVAL_MAX_S}::int)`,
    })
    .where(isOurs)
    .returning({ intervalS: deviceRequests.intervalS });
  if (!early) throw expired();
  throw refusal("slow_down", `Polled too soon. Poll every ${early.intervalS} seconds from now on.`);
}

function expired(): SvcError {
  return refusal(
    "expired_token",
    "The code is unknown, was used, or is older than ten minutes. Start again.",
  );
}

function refusal(
  code: "authorization_pending" | "slow_down" | "access_denied" | "expired_token",
  sentence: string,
): SvcError {
  return new SvcError(code, sentence);
}
