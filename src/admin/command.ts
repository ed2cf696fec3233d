import type { Db } from "../../db/client.ts";
import { ensureUser } from "../accounts/ensure-user.ts";
import { mintToken } from "../auth/token.ts";
import type { Keys } from "../keys.ts";
import { setPassword } from "../sign-in/set-password.ts";

/** What an operator may ask for on the machine itself: `svc-api admin token|user`. */
export type AdminCommand =
  | { verb: "token"; email: string; name: string }
  | { verb: "user"; email: string; password: string };

/**
 * Carries out an operator's command. It needs no token: whoever reaches it can read the data folder anyway.
 * @returns the line to print: the token, or a sentence.
 * @throws SvcError validation_failed.
 */
export async function runAdminCommand(db: Db, keys: Keys, command: AdminCommand): Promise<string> {
  if (command.verb === "token") {
    const { userId } = await ensureUser(db, command.email);
    const { secret } = await mintToken(db, keys, { userId, name: command.name });
    return secret;
  }
  const { created } = await setPassword(db, command.email, command.password);
  return created ? "User made, password set." : "Password set.";
}
