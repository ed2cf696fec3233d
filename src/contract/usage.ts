import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf } from "./schema.ts";

/** `open`: in progress. `incomplete`: it ended before the upstream had reported its usage. */
export const CALL_STATES = ["open", "complete", "incomplete"] as const;

/** What `?group_by=` of the usage accepts. */
export const USAGE_GROUPS = ["day", "project", "session", "user", "model"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Groups of one answer; the most expensive ones, or the latest days. */
export const USAGE_ROWS_MAX = 1_000;
/** US dollars: a budget above this is a mistake. */
const BUDGET_MAX = 1_000_000_000;

/** Tokens as the upstream has counted them. */
export const tokensUsed = Type.Object({
  input: Type.Integer({ description: "Tokens of prompts, including cached ones" }),
  output: Type.Integer(),
  cached: Type.Integer({ description: "Tokens of prompts that the upstream had cached" }),
});
export type TokensUsed = Static<typeof tokensUsed>;

/** A cost in US dollars. */
export const costUsed = nullable(Type.Number(), "US dollars; null if the prices of its models are unknown");

/** A budget in US dollars. */
export const budget = nullable(
  Type.Number({ minimum: 0, maximum: BUDGET_MAX }),
  "US dollars that models may cost in a month; null: no limit",
);
export const sessionBudget = nullable(
  Type.Number({ minimum: 0, maximum: BUDGET_MAX }),
  "US dollars that the models of one session may cost in all; null: no limit",
);

const used = {
  calls: Type.Integer(),
  incomplete: Type.Integer({
    description: "Calls that ended before the upstream had reported their usage; their cost is an estimate",
  }),
  unpriced: Type.Integer({ description: "Calls to models without prices, which cost does not include" }),
  tokens: tokensUsed,
  cost: costUsed,
};

/** One group of the usage. */
export const usageRow = Type.Object({
  key: nullable(Type.String(), "The day, id or model; null for deleted projects, sessions and users"),
  name: nullable(Type.String(), "The name of a project, session or user"),
  ...used,
});
export type UsageRow = Static<typeof usageRow>;

/** Answer of `GET /v1/accounts/:id/usage`. */
export const usage = Type.Object({
  group_by: oneOf(USAGE_GROUPS),
  since: Type.String({ format: "date-time" }),
  until: Type.String({ format: "date-time" }),
  usage: Type.Array(usageRow),
  total: Type.Object(used),
  truncated: Type.Boolean({ description: `Whether there are more than ${USAGE_ROWS_MAX} groups` }),
});
export type Usage = Static<typeof usage>;

/** Query of `GET /v1/accounts/:id/usage`: by default the last 30 days, by day. */
export const usageQuery = Type.Object({
  group_by: Type.Optional(oneOf(USAGE_GROUPS)),
  since: Type.Optional(Type.String({ format: "date-time" })),
  until: Type.Optional(Type.String({ format: "date-time" })),
});
