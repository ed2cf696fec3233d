import { and, eq, inArray, isNull } from "drizzle-orm";
import { users } from "../../../db/schema/index.ts";
import type { GithubApp } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { makeUser, readEmail } from "../accounts/make-user.ts";
import { addressOf, countAttempt, type Limit } from "../auth/attempts.ts";
import { audit } from "../auth/audit.ts";
import { openBrowserSession } from "../auth/browser.ts";
import { writeCookie } from "../auth/cookie.ts";
import { publicUrl } from "../auth/public-url.ts";
import { placeOf } from "../auth/sign-ins.ts";
import { emailTaken, findLink, membershipOf, redeemLink } from "./follow-link.ts";
import { fetchGithubUser, type GithubUser } from "./github-api.ts";
import { challengeOf, clearState, createState, readState, writeState } from "./github-state.ts";
import { linkNotFound } from "./links.ts";
import { byVisitor } from "./sign-in.ts";
import { signUpClosed } from "./sign-up.ts";

/** Callbacks from one address: each sends three requests to GitHub. */
const OF_ADDRESS: Limit = { name: "github", max: 60, windowS: 15 * 60 };

/** A redirect with cookies. */
export interface Redirect {
  location: string;
  cookies: string[];
}

/** Redirects a browser to GitHub. @throws not_found without an OAuth app */
export function redirectToGithub(deps: Deps, wanted: { next?: string; invitation?: string }): Redirect {
  const app = appOf(deps);
  const signIn = createState(wanted.next, wanted.invitation);
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: redirectUri(deps),
    scope: "user:email",
    state: signIn.state,
    code_challenge: challengeOf(signIn),
    code_challenge_method: "S256",
  });
  return { location: `${app.url}/login/oauth/authorize?${query}`, cookies: [writeState(deps, signIn)] };
}

/**
 * Handles the callback from GitHub: signs the browser in, as the user with one of the verified addresses, as a new user by
 * an invitation, or as a new user if sign-up is open.
 * @throws not_found, validation_failed, unavailable, sign_up_closed, email_taken, forbidden, rate_limited
 */
export async function handleGithubCallback(
  deps: Deps,
  request: Request,
  { code, state = "", error }: { code?: string; state?: string; error?: string },
): Promise<Redirect> {
  const app = appOf(deps);
  const signIn = readState(deps, request.headers.get("cookie"), state);
  if (!signIn) {
    const sentence = "This sign-in was not started in this browser, or has expired. Start again.";
    throw new SvcError("validation_failed", sentence);
  }
  if (error !== undefined || code === undefined) {
    return { location: "/login", cookies: [clearState(deps)] };
  }
  await countAttempt(deps, OF_ADDRESS, addressOf(request));
  const person = await fetchGithubUser(app, {
    code,
    verifier: signIn.verifier,
    redirectUri: redirectUri(deps),
  });
  const known = await knownUser(deps, person);
  const secret = await deps.db.transaction(async (tx) => {
    const inTransaction = { ...deps, db: tx };
    const userId = known ?? (await newUser(inTransaction, person, signIn.invitation));
    const action = known === null ? "user.signed_up" : "user.signed_in";
    const target = person.emails[0] ?? person.id;
    const entry = {
      action,
      target,
      targetId: userId,
      details: { way: "github", github_id: person.id },
    } as const;
    await audit(tx, byVisitor(request, userId), entry);
    return openBrowserSession(inTransaction, userId, placeOf(request));
  });
  const cookie = writeCookie(deps.config, secret);
  // an existing user decides on that page whether to join
  const isAsked = known !== null && signIn.invitation !== null;
  const location = isAsked ? `/welcome?token=${encodeURIComponent(signIn.invitation ?? "")}` : signIn.next;
  return { location, cookies: [clearState(deps), cookie] };
}

/** @throws email_taken when the address belongs to a user who may be another person */
async function knownUser(deps: Deps, { id, emails }: GithubUser): Promise<string | null> {
  const [linked] = await deps.db.select({ userId: users.userId }).from(users).where(eq(users.githubId, id));
  if (linked) return linked.userId;
  if (emails.length === 0) return null;
  const found = await deps.db.select().from(users).where(inArray(users.email, emails));
  const user = emails.flatMap((email) => found.find((each) => each.email === email) ?? [])[0];
  if (!user) return null;
  // an attacker may have signed up with the address of another person
  if (!user.emailProven || user.githubId !== null) throw emailTaken();
  const claimed = await deps.db
    .update(users)
    .set({ githubId: id })
    .where(and(eq(users.userId, user.userId), isNull(users.githubId)))
    .returning({ userId: users.userId });
  if (claimed.length === 0) throw emailTaken();
  return user.userId;
}

async function newUser(deps: Deps, person: GithubUser, invitation: string | null): Promise<string> {
  const row = invitation === null ? null : await findLink(deps, invitation);
  const joins = row && membershipOf(row);
  if (row && !joins) throw linkNotFound();
  if (!row && deps.config.signUp !== "open") throw signUpClosed();
  const email = row?.email ?? person.emails[0];
  if (email === undefined || !person.emails.includes(email)) {
    const fault = row?.email
      ? `${row.email} is not a verified e-mail address of your GitHub account.`
      : "Your GitHub account has no verified e-mail address.";
    throw new SvcError("forbidden", `${fault} Verify it on GitHub, then try again.`);
  }
  const wanted = {
    email: readEmail(email),
    name: person.name.replaceAll("\0", "").toWellFormed().slice(0, NAME_MAX),
    githubId: person.id,
    ...(joins && { joins }),
  };
  if (row) await redeemLink(deps.db, row);
  const userId = await makeUser(deps.db, wanted);
  if (userId === null) throw emailTaken();
  return userId;
}

function appOf({ config }: Deps): GithubApp {
  if (config.github) return config.github;
  throw new SvcError("not_found", "Sign-in with GitHub is not configured on this server.");
}

function redirectUri(deps: Deps): string {
  return `${publicUrl(deps)}/v1/auth/github/callback`;
}
