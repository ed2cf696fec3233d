import { SvcError } from "../../contract/errors.ts";
import type { SignedIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { countAttempt, forgetAttempts, type Limit } from "../auth/attempts.ts";
import { audit } from "../auth/audit.ts";
import { type Caller, userOf } from "../auth/caller.ts";
import { findByPassword, hashPassword } from "./password.ts";
import { storePassword } from "./set-password.ts";
import { start, type WithCookie } from "./sign-in.ts";

/** Against guessing the password in a browser that was left signed in. */
const OF_USER: Limit = { name: "change of password", max: 10, windowS: 15 * 60 };

/**
 * Changes the caller's password. All browsers are signed out; the requesting one is signed in again.
 * @throws bad_credentials, validation_failed, rate_limited
 */
export async function changePassword(
  deps: Deps,
  request: Request,
  caller: Caller,
  wanted: { current_password: string; new_password: string },
): Promise<WithCookie<SignedIn>> {
  const { email } = await userOf(deps, caller);
  await countAttempt(deps, OF_USER, caller.userId);
  const user = await findByPassword(deps.db, email, wanted.current_password);
  if (!user) throw new SvcError("bad_credentials", "The current password is wrong.");
  await forgetAttempts(deps, OF_USER, caller.userId);
  const passwordHash = await hashPassword(wanted.new_password);
  return deps.db.transaction(async (tx) => {
    await storePassword(tx, caller.userId, passwordHash);
    await audit(tx, caller, { action: "user.password_changed", target: email, targetId: caller.userId });
    return start({ ...deps, db: tx }, request, user);
  });
}
