import { and, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { links, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Keys } from "../../keys.ts";
import { makeLink } from "../accounts/links.ts";
import { ensureUser } from "../accounts/make-user.ts";

/** A link that somebody prints now is for now: a day, so that it may be sent. */
const LIFE_MS = 24 * 60 * 60_000;

/** Whether somebody can sign in with a password. */
export async function hasPasswords(db: Db): Promise<boolean> {
  return isAny(db, true);
}

/**
 * Makes the link by which a user sets a password, and the user if there is none. Earlier ones of the same user end.
 * @param site where people reach the server
 * @throws validation_failed for what is not an e-mail address
 */
export async function makePasswordLink(db: Db, keys: Keys, site: string, email: string): Promise<string> {
  const { userId } = await ensureUser(db, email);
  await db.delete(links).where(and(eq(links.kind, "password"), eq(links.userId, userId)));
  const { url } = await makeLink(db, keys, site, { kind: "password", userId, expiresAt: inOneLife() });
  return url;
}

/** Makes the link by which the first user is made; null when there are users. Earlier ones end. */
export async function makeFirstUserLink(db: Db, keys: Keys, site: string): Promise<string | null> {
  if (await isAny(db, false)) return null;
  await db.delete(links).where(eq(links.kind, "first_user"));
  const { url } = await makeLink(db, keys, site, { kind: "first_user", expiresAt: inOneLife() });
  return url;
}

/** The answer to a link that does nothing any more, or never did. */
export function noSuchLink(): SvcError {
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
