import type { modelSpend } from "../../../db/schema/index.ts";
import type { TokensUsed } from "../../contract/usage.ts";

/** What the finished calls of a session have used. */
export type Spent = Pick<typeof modelSpend.$inferSelect, "input" | "output" | "cached" | "cost">;

/** The tokens of a session; none if it has called no model. */
export function tokensOf(spent: Spent | null): TokensUsed {
  if (!spent) return { input: 0, output: 0, cached: 0 };
  const { input, output, cached } = spent;
  return { input, output, cached };
}
