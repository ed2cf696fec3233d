import { randomBytes } from "node:crypto";
import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { tokens } from "../../../db/schema/index.ts";
import { TOKEN_PREFIX } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { DEFAULT_SCOPES, type Scope } from "../../contract/scope.ts";
import type { Deps } from "../../deps.ts";
import type { Keys } from "../../keys.ts";
import type { AuditEntry } from "./audit.ts";

export type TokenRow = typeof tokens.$inferSelect;

/** The most tokens of one user, for themselves and in each project. */
const USER_TOKENS_MAX = 500;

interface NewToken {
  userId: string;
  name: string;
  projectId?: string;
  sessionId?: string;
  /** Default: all. */
  scopes?: readonly Scope[] | undefined;
  expiresAt?: Date | undefined;
}

/** Creates a token (spec 5.1). Its secret is returned once; the database stores a keyed hash. */
export async function mintToken(
  db: Db,
  keys: Keys,
  wanted: NewToken,
): Promise<{ row: TokenRow; secret: string }> {
  const owner = wanted.projectId ? eq(tokens.projectId, wanted.projectId) : isNull(tokens.projectId);
  if ((await db.$count(tokens, and(eq(tokens.userId, wanted.userId), owner))) >= USER_TOKENS_MAX) {
    throw new SvcError(
      "rate_limited",
      `There are already ${USER_TOKENS_MAX} tokens. Revoke some first.`,
      {},
      { "Retry-After": "3600" },
    );
  }
  const secret = TOKEN_PREFIX + base62(randomBytes(32));
  const [row] = await db
    .insert(tokens)
    .values({
      userId: wanted.userId,
      name: wanted.name.trim(),
      hash: keys.hashToken(secret),
      projectId: wanted.projectId ?? null,
      sessionId: wanted.sessionId ?? null,
      scopes: [...(wanted.scopes ?? DEFAULT_SCOPES)],
      expiresAt: wanted.expiresAt ?? null,
    })
    .returning();
  if (!row) throw new Error("the insert of a token returned no row");
  return { row, secret };
}

/** The entry of the audit log for a new token. */
export function tokenCreated({ name, tokenId, scopes, expiresAt, sessionId }: TokenRow): AuditEntry {
  const details = { scopes, expires_at: expiresAt?.toISOString() ?? null, session_id: sessionId };
  return { action: "token.created", target: name, targetId: tokenId, details };
}

/** @throws validation_failed for an expiry in the past */
export function readExpiry({ clock }: Pick<Deps, "clock">, text: string | undefined): Date | undefined {
  const expiresAt = text === undefined ? undefined : new Date(text);
  if (expiresAt && !(expiresAt > clock()))
    throw new SvcError("validation_failed", "expires_at must be in the future.");
  return expiresAt;
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 32 bytes as 43 base62 digits, the leading zeros kept. */
function base62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  while (value > 0n) {
    text = DIGITS.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text.padStart(43, "0");
}
