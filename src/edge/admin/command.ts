import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { ensureUser, readEmail } from "../../identity/accounts/make-user.ts";
import { setOperator } from "../../identity/accounts/set-operator.ts";
import { type AuditCheck, verifyAudit } from "../../identity/audit/verify.ts";
import { type AuditEntry, audit } from "../../identity/auth/audit.ts";
import { mintToken } from "../../identity/auth/token.ts";
import { makePasswordLink } from "../../identity/sign-in/links.ts";
import { setPassword } from "../../identity/sign-in/set-password.ts";
import type { Keys } from "../../keys.ts";

/** A command of an operator on the server's machine: `svc-api admin token|user|link|operator|verify-audit`. */
export type AdminCommand =
  | { verb: "token"; email: string; name: string }
  | { verb: "user"; email: string; password: string }
  | { verb: "link"; email: string }
  | { verb: "operator"; email: string; revoke: boolean }
  | { verb: "verify-audit" };

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
  if (command.verb === "verify-audit") return await checkAudit(db, keys);
  return await db.transaction(async (tx) => {
    const { line, action, details } = await change({ db: tx, keys, site }, command);
    const email = readEmail(command.email);
    const [user] = await tx.select({ userId: users.userId }).from(users).where(eq(users.email, email));
    await audit(tx, OPERATOR, {
      action,
      target: email,
      targetId: user?.userId ?? null,
      ...(user && { userId: user.userId }),
      details: { by: "svc-api admin", ...details },
    });
    return line;
  });
}

/** An operator on the server's machine has no user. */
const OPERATOR = { userId: null };

/** What a command has done, and the line to print. */
interface Done extends Pick<AuditEntry, "action" | "details"> {
  line: string;
}

async function change(
  { db, keys, site }: AdminDeps,
  command: Exclude<AdminCommand, { verb: "verify-audit" }>,
): Promise<Done> {
  if (command.verb === "token") {
    const { userId } = await ensureUser(db, command.email);
    const { row, secret } = await mintToken(db, keys, { userId, name: command.name });
    return { line: secret, action: "token.created", details: { name: row.name, token_id: row.tokenId } };
  }
  if (command.verb === "link") {
    const line = await makePasswordLink(db, keys, site, command.email);
    return { line, action: "user.password_link_created" };
  }
  if (command.verb === "operator") {
    await setOperator(db, command.email, !command.revoke);
    return {
      line: command.revoke ? "The user is no longer an operator." : "The user is an operator.",
      action: "user.operator_changed",
      details: { is_operator: !command.revoke },
    };
  }
  const { created } = await setPassword(db, command.email, command.password);
  return {
    line: created ? "User created, password set." : "Password set.",
    action: "user.password_changed",
    details: { is_new: created },
  };
}

/** @throws validation_failed when the log was changed */
async function checkAudit(db: Db, keys: Keys): Promise<string> {
  const { sealed, unsealed, first, head, fault } = await verifyAudit({ db, keys });
  if (fault !== null)
    throw new SvcError(
      "validation_failed",
      `The audit log does not match its hashes: ${fault}. The ${sealed} entries before it match. Compare the log with a backup.`,
    );
  const end =
    head.position === 0 ? "" : ` The last position is ${head.position}, with the hash ${head.hash}.`;
  return `The audit log is intact: ${sealed} entries match their hashes, ${unsealed} are not sealed yet.${beginning(first)}${end}`;
}

/** Of a chain that begins later: entries that were too old and entries that somebody removed look the same. */
function beginning(first: AuditCheck["first"]): string {
  if (first === null || first.position === 1) return "";
  return ` The first position is ${first.position}, from ${first.createdAt.toISOString()}: earlier entries are deleted.`;
}
