import { and, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { links, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Keys } from "../../keys.ts";
import { makeLink } from "../accounts/links.ts";
import { ensureUser } from "../accounts/make-user.ts";

const LIFE_MS = 24 * 60 * 60_000;

/** Whether any user has a password. */
export async function hasPasswords(db: Db): Promise<boolean> {
  return isAny(db, true);
}

/**
 * Creates a link by which a user sets a password, and the user if needed. Earlier links of the user end.
 * @param site the public URL
 * @throws validation_failed for an invalid e-mail address
 */
export async function makePasswordLink(db: Db, keys: Keys, site: string, email: string): Promise<string> {
  const { userId } = await ensureUser(db, email);
  await db.delete(links).where(and(eq(links.kind, "password"), eq(links.userId, userId)));
  const { url } = await makeLink(db, keys, site, { kind: "password", userId, expiresAt: inOneLife() });
  return url;
}

/** Creates a link by which the first user signs up; null when there are users. Earlier links end. */
export async function makeFirstUserLink(db: Db, keys: Keys, site: string): Promise<string | null> {
  if (await isAny(db, false)) return null;
  await db.delete(links).where(eq(links.kind, "first_user"));
  const { url } = await makeLink(db, keys, site, { kind: "first_user", expiresAt: inOneLife() });
  return url;
}

/** The error for a link that is unknown, used or expired. */
export function linkNotFound(): SvcError {
  const sentence =
    "This link has been used or has expired. Ask the person who invited you for a new one, or run on the server: svc-api admin link --email <your e-mail>";
  return new SvcError("not_found", sentence);
}

async function isAny(db: Db, withPassword: boolean): Promise<boolean> {
  const found = await db
    .select({ userId: users.userId })
    .from(users)
    .where(withPassword ? isNotNull(users.passwordHash) : undefined)
    .limit(1);
  return found.length > 0;
}

function inOneLife(): Date {
  return new Date(Date.now() + LIFE_MS);
}
