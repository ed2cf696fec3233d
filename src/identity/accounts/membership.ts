import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, accounts } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Caller } from "../auth/caller.ts";

export type AccountRow = typeof accounts.$inferSelect;

/**
 * The account that a URL names, and what the caller is in it.
 * @throws not_found, forbidden for who is no member
 */
export async function resolveAccount(
  db: Db,
  caller: Caller,
  accountId: string,
): Promise<{ account: AccountRow; role: Role }> {
  const [row] = await db
    .select({ account: accounts, role: accountMembers.role })
    .from(accounts)
    .leftJoin(
      accountMembers,
      and(eq(accountMembers.accountId, accounts.accountId), eq(accountMembers.userId, caller.userId)),
    )
    .where(eq(accounts.accountId, accountId));
  if (!row) throw new SvcError("not_found", "Account not found.");
  if (row.role === null) throw new SvcError("forbidden", "You are not a member of this account.");
  return { account: row.account, role: row.role };
}

/** The same for what only an owner or admin may do. */
export async function resolveManaged(db: Db, caller: Caller, accountId: string) {
  const found = await resolveAccount(db, caller, accountId);
  if (found.role === "member") {
    throw new SvcError("forbidden", "Only an owner or admin of the account may do this.");
  }
  return found;
}

/** The account's owner of the longest standing, whose is what nobody has asked for; null where it has none. */
export async function oldestOwner(db: Db, accountId: string): Promise<string | null> {
  const [owner] = await db
    .select({ userId: accountMembers.userId })
    .from(accountMembers)
    .where(and(eq(accountMembers.accountId, accountId), eq(accountMembers.role, "owner")))
    .orderBy(asc(accountMembers.createdAt), asc(accountMembers.userId))
    .limit(1);
  return owner?.userId ?? null;
}

/** Nobody makes others more than they are themselves, or less who is more. @throws forbidden */
export function allowOwners(mine: Role, ...theirs: Role[]): void {
  if (mine === "owner" || !theirs.includes("owner")) return;
  throw new SvcError("forbidden", "Only an owner can add or remove owners.");
}
