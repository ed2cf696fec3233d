import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { accounts, projectSessions } from "../../db/schema/index.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import { isUp } from "./alive.ts";

/**
 * Takes a place for one more session among those that the account may have at once (spec 8): in the transaction that
 * makes the session count, which holds the account's row until it ends, so that nobody else takes the same place.
 * @throws concurrent_session_limit (429)
 */
export async function takePlace({ config }: Pick<Deps, "config">, tx: Db, accountId: string): Promise<void> {
  const [account] = await tx
    .select({ tier: accounts.tier })
    .from(accounts)
    .where(eq(accounts.accountId, accountId))
    .for("update");
  if (!account) throw new SvcError("not_found", "The account was deleted in the meantime.");
  const limit = config.sessionCaps.get(account.tier) ?? config.sessionCaps.get("*") ?? 0;
  const isAgents = eq(projectSessions.purpose, "agent");
  const counted = and(eq(projectSessions.accountId, accountId), isAgents, isUp);
  const active = await tx.$count(projectSessions, counted);
  if (active < limit) return;
  throw new SvcError(
    "concurrent_session_limit",
    `The account runs ${active} sessions, and may run ${limit} at once. Stop one first: svc sessions stop <id>`,
    { limit, active_sessions: active },
    { "Retry-After": "60" },
  );
}
