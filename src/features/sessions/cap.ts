import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { LIVE_STATUSES } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { lockAccount } from "../../identity/accounts/lock.ts";

/**
 * Enforces the account's cap of concurrent sessions (spec 8), in the transaction that adds one. It locks the account's
 * row, so that two transactions cannot take the last slot.
 * @throws concurrent_session_limit (429)
 */
export async function enforceSessionCap(
  { config }: Pick<Deps, "config">,
  tx: Db,
  accountId: string,
): Promise<void> {
  const account = await lockAccount(tx, accountId);
  if (!account) throw new SvcError("not_found", "The account of this project has been deleted.");
  const limit = config.sessionCaps.get(account.tier) ?? config.sessionCaps.get("*") ?? 0;
  const isUp = inArray(projectSessions.status, [...LIVE_STATUSES]);
  const active = await tx.$count(projectSessions, and(eq(projectSessions.accountId, accountId), isUp));
  if (active < limit) return;
  throw new SvcError(
    "concurrent_session_limit",
    `The account runs ${active} sessions; its limit is ${limit}. Stop one first: svc sessions stop <id>`,
    { limit, active_sessions: active },
    { "Retry-After": "60" },
  );
}
