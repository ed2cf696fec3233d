import type { Db } from "../../../db/client.ts";
import { ensureUser } from "../../identity/accounts/make-user.ts";
import { setOperator } from "../../identity/accounts/set-operator.ts";
import { mintToken } from "../../identity/auth/token.ts";
import { makePasswordLink } from "../../identity/sign-in/links.ts";
import { setPassword } from "../../identity/sign-in/set-password.ts";
import type { Keys } from "../../keys.ts";

/** A command of an operator on the server's machine: `svc-api admin token|user|link|operator`. */
export type AdminCommand =
  | { verb: "token"; email: string; name: string }
  | { verb: "user"; email: string; password: string }
  | { verb: "link"; email: string }
  | { verb: "operator"; email: string; revoke: boolean };

interface AdminDeps {
  db: Db;
  keys: Keys;
  /** Where people reach the server, without a trailing slash. */
  site: string;
}

/**
 * Runs an operator's command, without a token: a caller with access to the socket can read the data folder anyway.
 * @returns the line to print: the token, the link, or a message.
 * @throws SvcError validation_failed, not_found.
 */
export async function runAdminCommand({ db, keys, site }: AdminDeps, command: AdminCommand): Promise<string> {
  if (command.verb === "token") {
    const { userId } = await ensureUser(db, command.email);
    const { secret } = await mintToken(db, keys, { userId, name: command.name });
    return secret;
  }
  if (command.verb === "link") return makePasswordLink(db, keys, site, command.email);
  if (command.verb === "operator") {
    await setOperator(db, command.email, !command.revoke);
    return command.revoke ? "The user is no longer an operator." : "The user is an operator.";
  }
  const { created } = await setPassword(db, command.email, command.password);
  return created ? "User created, password set." : "Password set.";
}
