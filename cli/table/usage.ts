import { USAGE_GROUPS } from "../../src/contract/usage.ts";
import { bind, type Command, spec } from "../spec.ts";
import { ACCOUNT_FLAG } from "./account-flag.ts";

export const usageSpec = spec({
  path: ["usage"],
  guesses: ["cost", "costs", "billing"],
  summary: "Show the model usage of an account, and what it cost",
  about: [
    "Costs are in US dollars, by the prices that the operator has configured. `~` marks costs with an estimate, of calls that ended before their usage was reported. Days are in UTC.",
  ],
  args: [],
  flags: {
    by: { kind: "string", value: "group", choices: USAGE_GROUPS, summary: "Group by; day by default" },
    since: { kind: "string", value: "date", summary: "The first day or time; 30 days ago by default" },
    until: { kind: "string", value: "date", summary: "The day or time before which the calls began" },
    account: ACCOUNT_FLAG,
  },
  fields: ["group_by", "since", "until", "usage", "total", "truncated"],
  examples: [
    ["svc usage", "The last 30 days"],
    ["svc usage --by model --since 2026-11-01", "Each model, since a day"],
    ["svc usage --by session --jq '.usage[0].key'", "The session that has cost most"],
  ],
});

export const usage: Command = bind(usageSpec, () =>
  import("../commands/usage.ts").then((module) => module.usage),
);
