import { and, eq, gt } from "drizzle-orm";
import { deviceRequests } from "../../../db/schema/index.ts";
import { DEVICE_LIFE_S, type DeviceRequest } from "../../contract/device.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { countAttempt, forgetAttempt, type Limit } from "../auth/attempts.ts";
import { audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import { hashUserCode, readUserCode } from "./codes.ts";

/** Wrong codes from one user: more than typing errors, too few to guess a code. */
const OF_USER: Limit = { name: "device code", max: 30, windowS: DEVICE_LIFE_S };

/**
 * The device request of a code, for the page on which a person decides.
 * @throws not_found for a code that is unknown, decided or expired, rate_limited
 */
export async function readDeviceRequest(
  deps: Deps,
  caller: Caller,
  userCode: string,
): Promise<DeviceRequest> {
  return counted(deps, caller, async () => {
    const [row] = await deps.db.select().from(deviceRequests).where(isPending(deps, userCode));
    if (!row) throw noSuchCode();
    return {
      user_code: readUserCode(userCode) ?? "",
      label: row.label,
      client: row.client,
      address: row.address,
      requested_at: row.createdAt.toISOString(),
      expires_at: row.expiresAt.toISOString(),
    };
  });
}

/**
 * Approves a device request, once: the program gets a token of the caller at its next poll.
 * @throws not_found for a code that is unknown, decided or expired, rate_limited
 */
export async function approveDevice(
  deps: Deps,
  caller: Caller,
  userCode: string,
  name: string,
): Promise<void> {
  const decision = { status: "approved", userId: caller.userId, tokenName: name } as const;
  await decide(deps, caller, userCode, "device.approved", decision);
}

/** Denies a device request. @throws not_found, rate_limited */
export async function denyDevice(deps: Deps, caller: Caller, userCode: string): Promise<{ ok: true }> {
  await decide(deps, caller, userCode, "device.denied", { status: "denied" });
  return { ok: true };
}

async function decide(
  deps: Deps,
  caller: Caller,
  userCode: string,
  action: "device.approved" | "device.denied",
  decision: Partial<typeof deviceRequests.$inferInsert>,
): Promise<void> {
  await counted(deps, caller, async () => {
    await deps.db.transaction(async (tx) => {
      const [decided] = await tx
        .update(deviceRequests)
        .set(decision)
        .where(isPending(deps, userCode))
        .returning({ label: deviceRequests.label, address: deviceRequests.address });
      if (!decided) throw noSuchCode();
      const { label: target, address } = decided;
      await audit(tx, caller, { action, target, details: { requested_from: address } });
    });
  });
}

function isPending(deps: Deps, userCode: string) {
  const code = readUserCode(userCode);
  if (code === null) throw noSuchCode();
  return and(
    eq(deviceRequests.userCodeHash, hashUserCode(deps.keys, code)),
    eq(deviceRequests.status, "pending"),
    gt(deviceRequests.expiresAt, deps.clock()),
  );
}

/** Counts failures only. */
async function counted<T>(deps: Deps, caller: Caller, work: () => Promise<T>): Promise<T> {
  await countAttempt(deps, OF_USER, caller.userId);
  const done = await work();
  await forgetAttempt(deps, OF_USER, caller.userId);
  return done;
}

function noSuchCode(): SvcError {
  const sentence =
    "The code is not valid: it is mistyped, was used, or is older than ten minutes. Run svc login again.";
  return new SvcError("not_found", sentence);
}
