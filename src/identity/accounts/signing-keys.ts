import { and, asc, eq } from "drizzle-orm";
import { signingKeys, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import { type AddSigningKeyBody, SIGNING_KEYS_MAX, type SigningKey } from "../../contract/signing-key.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import { fingerprintOf, publicKeyOf } from "../../lib/ssh-key.ts";
import { type AuditEntry, audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";

type KeyRow = typeof signingKeys.$inferSelect;

/** Bits of an RSA key, as on GitHub. */
const RSA_BITS_MIN = 2_048;

/** The caller's signing keys, the oldest first. */
export async function listSigningKeys(deps: Deps, { userId }: Caller): Promise<SigningKey[]> {
  const rows = await deps.db
    .select()
    .from(signingKeys)
    .where(eq(signingKeys.userId, userId))
    .orderBy(asc(signingKeys.keyId))
    .limit(SIGNING_KEYS_MAX);
  return rows.map(signingKeyToWire);
}

/** Adds a signing key of the caller. @throws validation_failed */
export async function addSigningKey(
  deps: Deps,
  caller: Caller,
  body: AddSigningKeyBody,
): Promise<SigningKey> {
  const { userId } = caller;
  const { key, comment } = readKey(body.key);
  const given = body.title?.trim() || comment || key.split(" ")[0] || key;
  const title = storable("title", given.slice(0, NAME_MAX), NAME_MAX * 4);
  const row = await deps.db.transaction(async (tx) => {
    // one at a time, so that the limit holds
    await tx.select({ id: users.userId }).from(users).where(eq(users.userId, userId)).for("no key update");
    if ((await tx.$count(signingKeys, eq(signingKeys.userId, userId))) >= SIGNING_KEYS_MAX)
      throw new SvcError(
        "validation_failed",
        `You have ${SIGNING_KEYS_MAX} signing keys, which is the limit. Remove one first: svc signing-keys rm <id>`,
      );
    const [added] = await tx
      .insert(signingKeys)
      .values({ userId, key, title, createdAt: deps.clock() })
      .onConflictDoNothing()
      .returning();
    if (added) await audit(tx, caller, entryOf("signing_key.added", added));
    return added;
  });
  if (!row) throw invalid("is one of your signing keys already");
  return signingKeyToWire(row);
}

/** Removes a signing key of the caller: from then on, no commit is verified by it. @throws not_found */
export async function removeSigningKey(deps: Deps, caller: Caller, keyId: number): Promise<{ ok: true }> {
  return await deps.db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(signingKeys)
      .where(and(eq(signingKeys.keyId, keyId), eq(signingKeys.userId, caller.userId)))
      .returning();
    if (!gone)
      throw new SvcError(
        "not_found",
        `You have no signing key ${keyId}. List yours with: svc signing-keys ls`,
      );
    await audit(tx, caller, entryOf("signing_key.removed", gone));
    return { ok: true };
  });
}

function entryOf(
  action: "signing_key.added" | "signing_key.removed",
  { keyId, key, title }: KeyRow,
): AuditEntry {
  return { action, target: title, targetId: String(keyId), details: { fingerprint: keyFingerprint(key) } };
}

/** A line of a `.pub` file. @throws validation_failed */
function readKey(text: string): { key: string; comment: string } {
  const [type = "", encoded = "", ...comment] = text.trim().split(/[ \t]+/);
  if (/[\r\n]/.test(text.trim())) throw invalid("must be one line, as in a .pub file");
  const blob = Buffer.from(encoded, "base64");
  const key = publicKeyOf(blob);
  if (key === null || key.type !== type || blob.toString("base64") !== encoded)
    throw invalid("must be an SSH public key of the type Ed25519, ECDSA or RSA, as in a .pub file");
  if (key.rsaBits !== null && key.rsaBits < RSA_BITS_MIN)
    throw invalid(`must have at least ${RSA_BITS_MIN} bits, and has ${key.rsaBits}`);
  return { key: `${type} ${encoded}`, comment: comment.join(" ") };
}

function invalid(message: string): SvcError {
  return new SvcError("validation_failed", `key ${message}.`, { details: [{ path: "key", message }] });
}

function signingKeyToWire({ keyId, key, title, createdAt }: KeyRow): SigningKey {
  const fingerprint = keyFingerprint(key);
  return { id: keyId, key, fingerprint, title, created_at: createdAt.toISOString() };
}

/** The fingerprint of a stored key. */
export function keyFingerprint(key: string): string {
  return fingerprintOf(Buffer.from(key.split(" ")[1] ?? "", "base64"));
}
