import type { Flag } from "../spec.ts";

/** Which account a command is about. */
export const ACCOUNT_FLAG = {
  kind: "string",
  value: "id",
  summary: "The account, by its id or slug; by default the active one",
} as const satisfies Flag;

const BUDGET = { kind: "string", value: "usd" } as const satisfies Partial<Flag>;

/** What models may cost. */
export const BUDGET_FLAGS = {
  budget: { ...BUDGET, summary: "What its models may cost in a calendar month (UTC)" },
  "session-budget": { ...BUDGET, summary: "What the models of one session may cost in all" },
} as const;
