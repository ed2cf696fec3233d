import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { SignedIn, SignUpBody } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import { makeUser, readEmail } from "../accounts/make-user.ts";
import { addressOf, countAttempt, type Limit } from "../auth/attempts.ts";
import { audit } from "../auth/audit.ts";
import { cookieRequestOf, requireDashboard } from "../auth/cookie.ts";
import { emailTaken, findLink, followLink } from "./follow-link.ts";
import { linkNotFound } from "./links.ts";
import { hashPassword } from "./password.ts";
import { byVisitor, start, type WithCookie } from "./sign-in.ts";

/** Sign-ups from one address: enough for a team, and a limit on probing for registered e-mail addresses. */
const OF_ADDRESS: Limit = { name: "sign-up", max: 20, windowS: 60 * 60 };

/**
 * Creates a user and signs the browser in, by an invitation, or without one if sign-up is open.
 * @throws forbidden for requests from other sites, sign_up_closed, not_found, email_taken, rate_limited
 */
export async function signUp(
  deps: Deps,
  request: Request,
  { invitation, ...body }: SignUpBody,
): Promise<WithCookie<SignedIn>> {
  requireDashboard(deps, cookieRequestOf(request));
  if (invitation !== undefined) {
    if ((await findLink(deps, invitation)).kind !== "invitation") throw linkNotFound();
    return followLink(deps, request, { ...body, token: invitation });
  }
  if (deps.config.signUp !== "open") {
    throw signUpClosed();
  }
  const email = readEmail(body.email);
  const name = storable("name", body.name, NAME_MAX * 4).trim();
  await countAttempt(deps, OF_ADDRESS, addressOf(request));
  const passwordHash = await hashPassword(body.password);
  return deps.db.transaction(async (tx) => {
    const userId = await makeUser(tx, { email, name, passwordHash, emailProven: false });
    if (userId === null) throw emailTaken();
    await audit(tx, byVisitor(request, userId), {
      action: "user.signed_up",
      target: email,
      targetId: userId,
      details: { way: "password" },
    });
    return start({ ...deps, db: tx }, request, { user_id: userId, email, name });
  });
}

/** The error for a sign-up that requires an invitation. */
export function signUpClosed(): SvcError {
  const sentence = "Sign-up is by invitation only. Ask an owner or admin of an account for an invitation.";
  return new SvcError("sign_up_closed", sentence);
}
