import { lt } from "drizzle-orm";
import { deviceRequests } from "../../../db/schema/index.ts";
import {
  DEVICE_INTERVAL_S,
  DEVICE_LABEL_MAX,
  DEVICE_LIFE_S,
  type DeviceCode,
} from "../../contract/device.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { addressOf, countAttempt, type Limit } from "../auth/attempts.ts";
import { publicUrl } from "../auth/public-url.ts";
import { hashDeviceCode, hashUserCode, makeDeviceCode, makeUserCode } from "./codes.ts";

/** Requests from one address. */
const OF_ADDRESS: Limit = { name: "device request", max: 60, windowS: DEVICE_LIFE_S };
/** Collisions of codes are rare. */
const TRIES = 5;

/**
 * Starts a device authorization request (RFC 8628, 3.1).
 * @param wanted the label that the program gives itself; control characters are removed, because it is shown to a person
 * @throws rate_limited
 */
export async function requestDevice(
  deps: Deps,
  request: Request,
  wanted: { label: string; client_id?: string },
): Promise<DeviceCode> {
  const address = addressOf(request);
  await countAttempt(deps, OF_ADDRESS, address);
  const now = deps.clock();
  await deps.db.delete(deviceRequests).where(lt(deviceRequests.expiresAt, now));
  const row = {
    label: plain(wanted.label),
    client: wanted.client_id === undefined ? null : plain(wanted.client_id),
    address,
    createdAt: now,
    expiresAt: new Date(now.getTime() + DEVICE_LIFE_S * 1000),
    intervalS: DEVICE_INTERVAL_S,
  };
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const [deviceCode, userCode] = [makeDeviceCode(), makeUserCode()];
    const made = await deps.db
      .insert(deviceRequests)
      .values({
        ...row,
        hash: hashDeviceCode(deps.keys, deviceCode),
        userCodeHash: hashUserCode(deps.keys, userCode),
      })
      .onConflictDoNothing()
      .returning({ hash: deviceRequests.hash });
    if (made.length > 0) return answer(`${publicUrl(deps)}/cli/authorize`, deviceCode, userCode);
  }
  throw new SvcError(
    "unavailable",
    "Cannot create a code for this sign-in. Try again.",
    {},
    { "Retry-After": "1" },
  );
}

function answer(page: string, deviceCode: string, userCode: string): DeviceCode {
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?code=${userCode}`,
    expires_in: DEVICE_LIFE_S,
    interval: DEVICE_INTERVAL_S,
  };
}

function plain(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "")
    .trim()
    .slice(0, DEVICE_LABEL_MAX);
}
