import { and, eq, gt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accounts, links, users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Link, LinkBody, SignedIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import type { LinkRow } from "../accounts/links.ts";
import { joinAccount, makeUser, readEmail } from "../accounts/make-user.ts";
import { audit } from "../auth/audit.ts";
import { findBrowserSession } from "../auth/browser.ts";
import { cookieRequestOf, cookieSecret, requireDashboard } from "../auth/cookie.ts";
import { hasPasswords, linkNotFound } from "./links.ts";
import { hashPassword } from "./password.ts";
import { storePassword } from "./set-password.ts";
import { byVisitor, start, type WithCookie } from "./sign-in.ts";

/**
 * Describes a link, for the page that it opens, without using it.
 * @throws not_found
 */
export async function readLink(deps: Deps, token: string): Promise<Link> {
  const row = await findLink(deps, token);
  const common = { kind: row.kind, expires_at: row.expiresAt.toISOString() };
  if (row.userId !== null) return { ...common, email: (await userOf(deps.db, row.userId)).email };
  if (row.accountId === null || row.role === null) return { ...common, email: row.email };
  const [account] = await deps.db
    .select({ name: accounts.name })
    .from(accounts)
    .where(eq(accounts.accountId, row.accountId));
  return { ...common, email: row.email, account_name: account?.name ?? "", role: row.role };
}

/**
 * Uses a link, once, and signs the browser in. It changes nothing when it throws.
 * @throws forbidden for requests from other sites, not_found, validation_failed, email_taken
 */
export async function followLink(
  deps: Deps,
  request: Request,
  body: LinkBody,
): Promise<WithCookie<SignedIn>> {
  requireDashboard(deps, cookieRequestOf(request));
  const row = await findLink(deps, body.token);
  const visitor = await visitorOf(deps, request);
  const isJoining = visitor !== null && membershipOf(row) !== null;
  if (!isJoining && body.password === undefined) throw missing("password", "A password is required.");
  const passwordHash = body.password === undefined || isJoining ? "" : await hashPassword(body.password);
  return deps.db.transaction(async (tx) => {
    const { user, action } = await userByLink(tx, row, visitor, { ...body, passwordHash });
    const { email, user_id: userId } = user;
    const membership = membershipOf(row);
    if (action !== null)
      await audit(tx, byVisitor(request, userId), {
        action,
        target: email,
        targetId: userId,
        ...(membership && { accountId: membership.accountId, details: { role: membership.role } }),
      });
    return start({ ...deps, db: tx }, request, user);
  });
}

/** @throws not_found for a link that is unknown, used or expired */
export async function findLink(deps: Deps, token: string): Promise<LinkRow> {
  const [row] = await deps.db
    .select()
    .from(links)
    .where(and(eq(links.hash, deps.keys.hashToken(token)), gt(links.expiresAt, deps.clock())));
  if (!row) throw linkNotFound();
  return row;
}

/** The user of a link, and what the link did; null: nothing, for a member of the account. */
type Followed = {
  user: SignedIn;
  action: "member.joined" | "user.signed_up" | "user.password_changed" | null;
};

async function userByLink(
  tx: Db,
  row: LinkRow,
  visitor: SignedIn | null,
  { passwordHash, ...body }: LinkBody & { passwordHash: string },
): Promise<Followed> {
  const membership = membershipOf(row);
  if (membership && visitor) return joinAs(tx, row, membership, visitor);
  if (row.userId !== null) return setOwnPassword(tx, row, row.userId, passwordHash);
  const email = emailOf(row, body);
  const name = body.name === undefined ? null : storable("name", body.name, NAME_MAX * 4);
  await redeemLink(tx, row);
  if (row.kind === "first_user" && (await hasPasswords(tx))) throw linkNotFound();
  const userId = await makeUser(tx, {
    email,
    name,
    passwordHash,
    ...(row.kind === "first_user" && { byOperator: true }),
    ...(membership && { joins: membership }),
  });
  if (userId !== null) return { user: await userOf(tx, userId), action: "user.signed_up" };
  if (row.kind !== "first_user") throw emailTaken();
  // the link is from the server's log, whose readers can set any password; this user only had tokens so far
  const [known] = await tx.select({ userId: users.userId }).from(users).where(eq(users.email, email));
  if (!known) throw new Error("a user was neither created nor found");
  await storePassword(tx, known.userId, passwordHash);
  return { user: await userOf(tx, known.userId), action: "user.password_changed" };
}

/** @throws forbidden when the invitation is for another user */
async function joinAs(
  tx: Db,
  row: LinkRow,
  membership: NonNullable<ReturnType<typeof membershipOf>>,
  visitor: SignedIn,
): Promise<Followed> {
  if (row.email !== null && row.email !== visitor.email) {
    const sentence = `This invitation is for ${row.email}, and you are signed in as ${visitor.email}. Sign out first.`;
    throw new SvcError("forbidden", sentence);
  }
  await redeemLink(tx, row);
  const isNew = await joinAccount(tx, visitor.user_id, membership);
  return { user: visitor, action: isNew ? "member.joined" : null };
}

async function setOwnPassword(tx: Db, row: LinkRow, userId: string, passwordHash: string): Promise<Followed> {
  await redeemLink(tx, row);
  await storePassword(tx, userId, passwordHash);
  return { user: await userOf(tx, userId), action: "user.password_changed" };
}

/** Uses a link, once across all servers on the database. All links for the first user are used together. */
export async function redeemLink(tx: Db, row: LinkRow): Promise<void> {
  const which = row.kind === "first_user" ? eq(links.kind, "first_user") : eq(links.linkId, row.linkId);
  const taken = await tx.delete(links).where(which).returning({ linkId: links.linkId });
  if (!taken.some(({ linkId }) => linkId === row.linkId)) throw linkNotFound();
}

/** The membership that an invitation grants; null for other links. */
export function membershipOf({ accountId, role }: LinkRow) {
  return accountId !== null && role !== null ? { accountId, role } : null;
}

function emailOf(row: LinkRow, { email }: LinkBody): string {
  if (row.email !== null) return row.email;
  if (email === undefined) throw missing("email", "An e-mail address is required.");
  return readEmail(email);
}

async function visitorOf(deps: Deps, request: Request): Promise<SignedIn | null> {
  const secret = cookieSecret(deps, cookieRequestOf(request));
  const found = secret === null ? null : await findBrowserSession(deps, secret);
  return found && userOf(deps.db, found.userId);
}

async function userOf(db: Db, userId: string): Promise<SignedIn> {
  const [user] = await db
    .select({ user_id: users.userId, email: users.email, name: users.name })
    .from(users)
    .where(eq(users.userId, userId));
  if (!user) throw linkNotFound();
  return user;
}

/** The error for an e-mail address that is in use. */
export function emailTaken(): SvcError {
  const sentence =
    "A user with this e-mail address already exists. Sign in, then open the invitation link again.";
  return new SvcError("email_taken", sentence);
}

function missing(path: string, message: string): SvcError {
  return new SvcError("validation_failed", message, { details: [{ path, message: "is required" }] });
}
