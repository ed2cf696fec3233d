import { eq } from "drizzle-orm";
import { users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { SignedIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { addressOf, countAttempt, forgetAttempt, forgetAttempts, type Limit } from "../auth/attempts.ts";
import { type AuditedBy, audit } from "../auth/audit.ts";
import { endBrowserSession, openBrowserSession } from "../auth/browser.ts";
import { clearCookie, cookieRequestOf, cookieSecret, requireDashboard, writeCookie } from "../auth/cookie.ts";
import { originOf } from "../auth/origin.ts";
import { placeOf } from "../auth/sign-ins.ts";
import { findByPassword } from "./password.ts";

/** Wrong passwords for one user from one address: more than typing errors, too few to guess one. */
const OF_USER: Limit = { name: "sign-in of a user", max: 10, windowS: 15 * 60 };
/** For one user from all addresses, against attackers with many addresses. */
const OF_USER_ANYWHERE: Limit = { name: "sign-in of a user, anywhere", max: 50, windowS: 15 * 60 };
/** For all users from one address, which an office may share. */
const OF_ADDRESS: Limit = { name: "sign-in", max: 100, windowS: 15 * 60 };
/** Wrong passwords for one user that the audit log has: enough to show an attack, too few to fill a disk. */
const RECORDED: Limit = { name: "recorded sign-in of a user", max: 20, windowS: 60 * 60 };

/** The response to a browser, and its `Set-Cookie`; null: none. */
export interface WithCookie<T> {
  answer: T;
  cookie: string | null;
}

/**
 * Signs a browser in by a password. Unknown users and wrong passwords give the same error, after the same time.
 * @throws forbidden for requests from other sites, bad_credentials, rate_limited
 */
export async function signIn(
  deps: Deps,
  request: Request,
  { email, password }: { email: string; password: string },
): Promise<WithCookie<SignedIn>> {
  requireDashboard(deps, cookieRequestOf(request));
  const [user, address] = [email.trim().toLowerCase(), addressOf(request)];
  await countAttempt(deps, OF_ADDRESS, address);
  await countAttempt(deps, OF_USER, `${address} ${user}`);
  await countAttempt(deps, OF_USER_ANYWHERE, user);
  const found = user.includes("\0") ? null : await findByPassword(deps.db, user, password);
  if (!found) {
    noteFailure(deps, request, user);
    throw new SvcError("bad_credentials", "Wrong e-mail address or password.");
  }
  await forgetAttempts(deps, OF_USER, `${address} ${user}`);
  await forgetAttempt(deps, OF_USER_ANYWHERE, user);
  await forgetAttempt(deps, OF_ADDRESS, address);
  return deps.db.transaction(async (tx) => {
    const entry = { action: "user.signed_in", target: found.email, targetId: found.user_id } as const;
    await audit(tx, byVisitor(request, found.user_id), { ...entry, details: { way: "password" } });
    return start({ ...deps, db: tx }, request, found);
  });
}

/** The user of a request that signs in, for the audit log. */
export function byVisitor(request: Request, userId: string): AuditedBy {
  return { userId, origin: originOf(request) };
}

/**
 * Records a wrong password for a user, unless many are recorded already. In the background, so that the time does not show
 * whether the user exists.
 */
function noteFailure(deps: Deps, request: Request, email: string): void {
  const recorded = async () => {
    if (email.includes("\0")) return;
    const [user] = await deps.db.select({ userId: users.userId }).from(users).where(eq(users.email, email));
    if (!user) return;
    const { userId } = user;
    if (!(await isRecorded(deps, userId))) return;
    const entry = { action: "user.sign_in_failed", target: email, targetId: userId, userId } as const;
    await audit(deps.db, { userId: null, origin: originOf(request) }, entry);
  };
  recorded().catch((error: unknown) => deps.log.warn({ err: error }, "cannot record a failed sign-in"));
}

async function isRecorded(deps: Deps, userId: string): Promise<boolean> {
  try {
    await countAttempt(deps, RECORDED, userId);
    return true;
  } catch (error) {
    if (error instanceof SvcError) return false;
    throw error;
  }
}

/** Signs a browser in as an authenticated user, and ends its earlier session. The caller records that it was signed in. */
export async function start(deps: Deps, request: Request, user: SignedIn): Promise<WithCookie<SignedIn>> {
  const before = cookieSecret(deps, cookieRequestOf(request));
  if (before !== null) await endBrowserSession(deps, before);
  return {
    answer: user,
    cookie: writeCookie(deps.config, await openBrowserSession(deps, user.user_id, placeOf(request))),
  };
}

/** @throws forbidden for requests from other sites */
export async function signOut(deps: Deps, request: Request): Promise<WithCookie<{ ok: true }>> {
  const cookieRequest = cookieRequestOf(request);
  requireDashboard(deps, cookieRequest);
  const secret = cookieSecret(deps, cookieRequest);
  if (secret !== null)
    await deps.db.transaction(async (tx) => {
      const ended = await endBrowserSession({ ...deps, db: tx }, secret);
      if (ended === null) return;
      const target = placeOf(request).userAgent ?? "unknown browser";
      const entry = { action: "user.signed_out", target, targetId: ended.signInId } as const;
      await audit(tx, byVisitor(request, ended.userId), entry);
    });
  return { answer: { ok: true }, cookie: clearCookie(deps.config) };
}
