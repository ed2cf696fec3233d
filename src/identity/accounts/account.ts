import { eq } from "drizzle-orm";
import { accounts } from "../../../db/schema/index.ts";
import type { Account, EditAccountBody, Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import { audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import { type AccountRow, resolveAccount, resolveManaged } from "./membership.ts";

/** @throws not_found, forbidden for non-members */
export async function readAccount(deps: Deps, caller: Caller, accountId: string): Promise<Account> {
  const { account, role } = await resolveAccount(deps.db, caller, accountId);
  return toWire(account, role);
}

/** Renames an account, whose slug stays, or sets its budgets for models. @throws not_found, forbidden to all but owners and admins */
export async function editAccount(
  deps: Deps,
  caller: Caller,
  accountId: string,
  body: EditAccountBody,
): Promise<Account> {
  const { role } = await resolveManaged(deps.db, caller, accountId);
  const { model_budget: modelBudget, model_session_budget: modelSessionBudget } = body;
  const changes = {
    ...(body.name !== undefined && { name: storable("name", body.name.trim(), NAME_MAX * 4) }),
    ...(modelBudget !== undefined && { modelBudget }),
    ...(modelSessionBudget !== undefined && { modelSessionBudget }),
  };
  return await deps.db.transaction(async (tx) => {
    const [account] = await tx
      .update(accounts)
      .set(changes)
      .where(eq(accounts.accountId, accountId))
      .returning();
    if (!account)
      throw new SvcError("not_found", `Account ${accountId} not found. List yours with: svc whoami`);
    const entry = { action: "account.edited", target: account.slug, targetId: accountId } as const;
    await audit(tx, caller, { ...entry, accountId, details: body });
    return toWire(account, role);
  });
}

function toWire(row: AccountRow, role: Role): Account {
  const { accountId, name, slug, tier, createdAt } = row;
  return {
    ...{ account_id: accountId, name, slug, tier, role },
    model_budget: row.modelBudget,
    model_session_budget: row.modelSessionBudget,
    created_at: createdAt.toISOString(),
  };
}
