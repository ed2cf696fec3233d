import { asc, eq } from "drizzle-orm";
import { accountMembers, accounts } from "../../../db/schema/index.ts";
import type { Me } from "../../contract/account.ts";
import type { Deps } from "../../deps.ts";
import { type Caller, isOperator, userOf } from "../auth/caller.ts";

/** The caller and their accounts, the oldest membership first. */
export async function me(deps: Deps, caller: Caller): Promise<Me> {
  const user = await userOf(deps, caller);
  const memberships = await deps.db
    .select({
      account_id: accounts.accountId,
      name: accounts.name,
      slug: accounts.slug,
      role: accountMembers.role,
      tier: accounts.tier,
    })
    .from(accountMembers)
    .innerJoin(accounts, eq(accounts.accountId, accountMembers.accountId))
    .where(eq(accountMembers.userId, caller.userId))
    .orderBy(asc(accountMembers.createdAt), asc(accounts.accountId));
  return {
    user_id: caller.userId,
    ...user,
    is_operator: await isOperator(deps, caller),
    accounts: memberships,
  };
}
