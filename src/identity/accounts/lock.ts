import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accounts } from "../../../db/schema/index.ts";

/**
 * Locks an account's row until the transaction ends, so that changes of what it may have a limited number of run one after
 * the other, and the limit holds. Rows that refer to the account can be added meanwhile: who adds one may have locked what
 * the caller locks next.
 * @returns null when the account was deleted
 */
export async function lockAccount(tx: Db, accountId: string): Promise<{ tier: string } | null> {
  const [account] = await tx
    .select({ tier: accounts.tier })
    .from(accounts)
    .where(eq(accounts.accountId, accountId))
    .for("no key update");
  return account ?? null;
}
