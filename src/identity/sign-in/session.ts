import { eq } from "drizzle-orm";
import { users } from "../../../db/schema/index.ts";
import type { BrowserSession, SignedIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { findBrowserSession, renewBrowserSession } from "../auth/browser.ts";
import { cookieRequestOf, cookieSecret, writeCookie } from "../auth/cookie.ts";
import { hasPasswords } from "./links.ts";
import type { WithCookie } from "./sign-in.ts";

/**
 * Whether a browser is signed in, and the ways to sign in, for the dashboard's first request. Extends the session once a
 * day.
 */
export async function readSession(deps: Deps, request: Request): Promise<WithCookie<BrowserSession>> {
  const secret = cookieSecret(deps, cookieRequestOf(request));
  const found = secret === null ? null : await findBrowserSession(deps, secret);
  const user = found && (await findUser(deps, found.userId));
  const isRenewed = user !== null && secret !== null && (await renewBrowserSession(deps, secret));
  const answer: BrowserSession = {
    signed_in: user !== null,
    ...(user && { user }),
    sign_up: deps.config.signUp,
    github: deps.config.github !== null,
    first_user: user === null && !(await hasPasswords(deps.db)),
  };
  return { answer, cookie: isRenewed ? writeCookie(deps.config, secret) : null };
}

async function findUser(deps: Deps, userId: string): Promise<SignedIn | null> {
  const [user] = await deps.db
    .select({ user_id: users.userId, email: users.email, name: users.name })
    .from(users)
    .where(eq(users.userId, userId));
  return user ?? null;
}
