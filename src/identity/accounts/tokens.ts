import { and, asc, eq, gt, isNull } from "drizzle-orm";
import { tokens } from "../../../db/schema/index.ts";
import type { MintedUserToken, MintUserTokenBody, UserToken } from "../../contract/account.ts";
import type { DeviceApproved } from "../../contract/device.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import { mintToken, readExpiry, type TokenRow, tokenCreated } from "../auth/token.ts";
import { approveDevice } from "../device/decide.ts";

/** The caller's user tokens, without their secrets. */
export async function listUserTokens(deps: Deps, caller: Caller, { limit, cursor }: Page) {
  const after = readCursor(cursor, UUID);
  const found = await deps.db
    .select()
    .from(tokens)
    .where(
      and(
        eq(tokens.userId, caller.userId),
        isNull(tokens.projectId),
        after ? gt(tokens.tokenId, after) : undefined,
      ),
    )
    .orderBy(asc(tokens.tokenId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => row.tokenId);
  return { tokens: rows.map(toWire), ...next };
}

/**
 * Creates a token for the caller, or approves a device request (RFC 8628).
 * @throws validation_failed for an expiry in the past, not_found for an invalid device code
 */
export async function mintUserToken(
  deps: Deps,
  caller: Caller,
  wanted: MintUserTokenBody,
): Promise<MintedUserToken | DeviceApproved> {
  if (wanted.device_user_code !== undefined) {
    for (const field of ["expires_at", "scopes"] as const) {
      if (wanted[field] !== undefined)
        throw new SvcError("validation_failed", `${field} cannot be combined with device_user_code.`);
    }
    const name = wanted.name.trim();
    await approveDevice(deps, caller, wanted.device_user_code, name);
    return { status: "approved", name };
  }
  const expiresAt = readExpiry(deps, wanted.expires_at);
  return await deps.db.transaction(async (tx) => {
    const { userId } = caller;
    const { name, scopes } = wanted;
    const { row, secret } = await mintToken(tx, deps.keys, { userId, name, scopes, expiresAt });
    await audit(tx, caller, tokenCreated(row));
    return { ...toWire(row), token: secret };
  });
}

/** Revokes one of the caller's user tokens; it may be the one in use. */
export async function revokeUserToken(deps: Deps, caller: Caller, tokenId: string): Promise<{ ok: true }> {
  return await deps.db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(tokens)
      .where(and(eq(tokens.tokenId, tokenId), eq(tokens.userId, caller.userId), isNull(tokens.projectId)))
      .returning({ name: tokens.name });
    if (!gone)
      throw new SvcError("not_found", `You have no token ${tokenId}. List yours with: svc tokens ls`);
    await audit(tx, caller, { action: "token.revoked", target: gone.name, targetId: tokenId });
    return { ok: true };
  });
}

function toWire(row: TokenRow): UserToken {
  return {
    token_id: row.tokenId,
    name: row.name,
    scopes: row.scopes,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
}
