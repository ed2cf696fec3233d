import { eq } from "drizzle-orm";
import { accounts } from "../../../db/schema/index.ts";
import type { Account, Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import type { Caller } from "../auth/caller.ts";
import { type AccountRow, resolveAccount, resolveManaged } from "./membership.ts";

/** @throws not_found, forbidden for non-members */
export async function readAccount(deps: Deps, caller: Caller, accountId: string): Promise<Account> {
  const { account, role } = await resolveAccount(deps.db, caller, accountId);
  return toWire(account, role);
}

/** Renames an account; its slug stays. @throws not_found, forbidden to all but owners and admins */
export async function renameAccount(
  deps: Deps,
  caller: Caller,
  accountId: string,
  wanted: string,
): Promise<Account> {
  const { role } = await resolveManaged(deps.db, caller, accountId);
  const name = storable("name", wanted.trim(), NAME_MAX * 4);
  const [account] = await deps.db
    .update(accounts)
    .set({ name })
    .where(eq(accounts.accountId, accountId))
    .returning();
  if (!account)
    throw new SvcError("not_found", `Account ${accountId} not found. List yours with: svc whoami`);
  return toWire(account, role);
}

function toWire({ accountId, name, slug, tier, createdAt }: AccountRow, role: Role): Account {
  return { account_id: accountId, name, slug, tier, role, created_at: createdAt.toISOString() };
}
