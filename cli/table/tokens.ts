import type { MintedProjectToken, ProjectToken } from "../../src/contract/account.ts";
import { SCOPES } from "../../src/contract/scope.ts";
import { bind, type Flag, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

const TOKEN_FIELDS = fieldsOf<ProjectToken>()([
  "token_id",
  "name",
  "project_id",
  "session_id",
  "scopes",
  "created_at",
  "last_used_at",
  "expires_at",
]);
const NEW_TOKEN_FIELDS = fieldsOf<MintedProjectToken>()([...TOKEN_FIELDS, "token"]);

/** Days of validity of a token without `--days`. */
const DEFAULT_DAYS = 90;

const FOR_PROJECT = {
  kind: "boolean",
  summary: "The current project's tokens, for automation, instead of your own",
} as const satisfies Flag;

export const ls = spec({
  path: ["tokens", "ls"],
  summary: "List your tokens, without their secrets",
  args: [],
  flags: { "for-project": FOR_PROJECT },
  fields: TOKEN_FIELDS,
  examples: [
    ["svc tokens ls", "Yours, that of this command line among them"],
    ["svc tokens ls --for-project --jq '.[] | select(.last_used_at == null) | .name'", "Those never used"],
  ],
});

export const create = spec({
  path: ["tokens", "new"],
  aliases: ["create"],
  guesses: ["add"],
  summary: "Create a token, and print it once",
  about: [
    "Your token acts as you, in all your projects; one of a project acts in that project only, and is shown as automation on your behalf.",
    "--scope limits what it may do: `read` is for requests that change nothing and for fetches, `git:read` for fetches only, `git:write` for pushes too, `checks` to report commit statuses and check runs. Without it, the token may do all that you may.",
  ],
  args: [{ name: "name", summary: "A name by which you will recognize it", required: true }],
  flags: {
    "for-project": { ...FOR_PROJECT, summary: "A token of the current project, for automation" },
    scope: {
      kind: "string",
      value: "scope",
      many: true,
      choices: SCOPES,
      summary: "What it may do at most; repeatable. Default: write, which includes all others",
    },
    days: {
      kind: "integer",
      value: "days",
      min: 0,
      max: 3650,
      summary: `Days until it expires, ${DEFAULT_DAYS} by default; 0: it does not expire`,
    },
  },
  fields: NEW_TOKEN_FIELDS,
  examples: [
    ["svc tokens new ci --for-project --scope checks", "For a CI that reports checks"],
    ["svc tokens new backup --scope git:read --days 0 --jq .token", "For a script that fetches, for ever"],
  ],
});

export const revoke = spec({
  path: ["tokens", "revoke"],
  aliases: ["rm"],
  summary: "Revoke a token",
  about: ["Requests with it are rejected from then on; open streams end within seconds."],
  args: [{ name: "token", summary: "The token, by its id or the beginning of it", required: true }],
  flags: { "for-project": { ...FOR_PROJECT, summary: "It is one of the current project's tokens" } },
  fields: ["token_id", "name", "revoked"],
  examples: [
    ["svc tokens revoke 1f3a", "One of yours"],
    ["svc tokens revoke 1f3a --for-project", "One of the project's"],
  ],
});

export const tokens: Group = {
  name: "tokens",
  summary: "Tokens for scripts, CI and other machines",
  commands: [
    bind(ls, () => import("../commands/tokens/ls.ts").then((module) => module.ls)),
    bind(create, () => import("../commands/tokens/create.ts").then((module) => module.create)),
    bind(revoke, () => import("../commands/tokens/revoke.ts").then((module) => module.revoke)),
  ],
};

export const defaultDays = DEFAULT_DAYS;
