import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { modelSpend } from "../../../db/schema/index.ts";
import type { TokensUsed } from "../../contract/usage.ts";

/** What the finished calls of a session have used. */
export type Spent = Pick<typeof modelSpend.$inferSelect, "input" | "output" | "cached" | "cost">;

/** The fields of a session or a change request. @param spent null if the session has called no model */
export function usageOf(spent: Spent | null): { cost: number | null; tokens: TokensUsed } {
  const { input = 0, output = 0, cached = 0, cost = null } = spent ?? {};
  return { cost, tokens: { input, output, cached } };
}

/** Sessions → what they have used, of those that have called a model. */
export async function spentBySessions(
  db: Db,
  sessionIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, Spent>> {
  const ids = [...new Set(sessionIds)].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .select()
    .from(modelSpend)
    .where(and(inArray(modelSpend.scope, ids), eq(modelSpend.period, "")));
  return new Map(rows.map(({ scope, ...row }) => [scope, row]));
}
