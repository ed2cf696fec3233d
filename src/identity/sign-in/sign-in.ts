import { SvcError } from "../../contract/errors.ts";
import type { SignedIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { addressOf, countAttempt, forgetAttempt, forgetAttempts, type Limit } from "../auth/attempts.ts";
import { endBrowserSession, openBrowserSession } from "../auth/browser.ts";
import { clearCookie, cookieRequestOf, cookieSecret, requireDashboard, writeCookie } from "../auth/cookie.ts";
import { placeOf } from "../auth/sign-ins.ts";
import { findByPassword } from "./password.ts";

/** Wrong passwords for one user from one address: more than typing errors, too few to guess one. */
const OF_USER: Limit = { name: "sign-in of a user", max: 10, windowS: 15 * 60 };
/** For one user from all addresses, against attackers with many addresses. */
const OF_USER_ANYWHERE: Limit = { name: "sign-in of a user, anywhere", max: 50, windowS: 15 * 60 };
/** For all users from one address, which an office may share. */
const OF_ADDRESS: Limit = { name: "sign-in", max: 100, windowS: 15 * 60 };

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
  if (!found) throw new SvcError("bad_credentials", "Wrong e-mail address or password.");
  await forgetAttempts(deps, OF_USER, `${address} ${user}`);
  await forgetAttempt(deps, OF_USER_ANYWHERE, user);
  await forgetAttempt(deps, OF_ADDRESS, address);
  return start(deps, request, found);
}

/** Signs a browser in as an authenticated user, and ends its earlier session. */
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
  if (secret !== null) await endBrowserSession(deps, secret);
  return { answer: { ok: true }, cookie: clearCookie(deps.config) };
}
