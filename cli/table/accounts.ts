import type { Account } from "../../src/contract/account.ts";
import { bind, type Group, spec } from "../spec.ts";
import { ACCOUNT_FLAG, BUDGET_FLAGS } from "./account-flag.ts";
import { fieldsOf } from "./fields.ts";

export const ls = spec({
  path: ["accounts", "ls"],
  summary: "List the accounts that you are a member of",
  about: ["The active one is marked: commands without --account use it."],
  args: [],
  flags: {},
  fields: ["account_id", "name", "slug", "role", "tier", "active"],
  examples: [
    ["svc accounts ls", "List all"],
    ["svc accounts ls --jq '.[] | select(.active) | .slug'", "Only the active one"],
  ],
});

export const swap = spec({
  path: ["accounts", "switch"],
  guesses: ["use", "select"],
  summary: "Make an account the active one of the host",
  args: [{ name: "account", summary: "The account, by its id or slug", required: "ask" }],
  flags: {},
  fields: ["account_id", "name", "slug", "role", "host"],
  examples: [
    ["svc accounts switch acme", "By its slug"],
    ["svc accounts switch", "Choose from a list"],
  ],
});

export const edit = spec({
  path: ["accounts", "edit"],
  summary: "Rename an account, or set what its models may cost",
  about: ["Only owners and admins can. A budget is in US dollars; `none` removes it."],
  args: [],
  flags: {
    account: ACCOUNT_FLAG,
    name: { kind: "string", value: "name", summary: "Its new name" },
    ...BUDGET_FLAGS,
  },
  fields: fieldsOf<Account>()([
    "account_id",
    "name",
    "slug",
    "tier",
    "role",
    "model_budget",
    "model_session_budget",
    "created_at",
  ]),
  examples: [
    ["svc accounts edit --budget 200 --session-budget 5", "Limit what models cost"],
    ["svc accounts edit --account acme --name 'Acme Corp'", "Rename another account"],
  ],
});

export const accounts: Group = {
  name: "accounts",
  summary: "Accounts, which own projects",
  commands: [
    bind(ls, () => import("../commands/accounts/ls.ts").then((module) => module.ls)),
    bind(swap, () => import("../commands/accounts/switch.ts").then((module) => module.swap)),
    bind(edit, () => import("../commands/accounts/edit.ts").then((module) => module.edit)),
  ],
};
