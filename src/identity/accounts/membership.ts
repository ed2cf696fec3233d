import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, accounts } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Caller } from "../auth/caller.ts";

export type AccountRow = typeof accounts.$inferSelect;

/**
 * The account of a URL, and the caller's role in it.
 * @throws not_found, forbidden for non-members
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
  if (!row) throw new SvcError("not_found", `Account ${accountId} not found. List yours with: svc whoami`);
  if (row.role === null)
    throw new SvcError(
      "forbidden",
      "You are not a member of this account. Ask an owner or admin of it for an invitation.",
    );
  return { account: row.account, role: row.role };
}

/** The same for owners and admins only. */
export async function resolveManaged(db: Db, caller: Caller, accountId: string) {
  const found = await resolveAccount(db, caller, accountId);
  if (found.role === "member") {
    throw new SvcError("forbidden", "Only an owner or admin of the account may do this.");
  }
  return found;
}

/** The account's longest-standing owner, to whom automatic actions are attributed; null without one. */
export async function oldestOwner(db: Db, accountId: string): Promise<string | null> {
  const [owner] = await db
    .select({ userId: accountMembers.userId })
    .from(accountMembers)
    .where(and(eq(accountMembers.accountId, accountId), eq(accountMembers.role, "owner")))
    .orderBy(asc(accountMembers.createdAt), asc(accountMembers.userId))
    .limit(1);
  return owner?.userId ?? null;
}

/** Only owners can add, change or remove owners. @throws forbidden */
export function allowOwners(mine: Role, ...theirs: Role[]): void {
  if (mine === "owner" || !theirs.includes("owner")) return;
  throw new SvcError("forbidden", "Only an owner can add or remove owners.");
}
