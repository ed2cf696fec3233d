import type { SignIn } from "../../src/contract/sign-in.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

const SIGN_IN_FIELDS = fieldsOf<SignIn>()([
  "sign_in_id",
  "user_agent",
  "address",
  "created_at",
  "last_used_at",
  "expires_at",
  "is_current",
]);

export const ls = spec({
  path: ["sign-ins", "ls"],
  summary: "List the browsers in which you are signed in",
  about: ["A browser stays signed in for 30 days after its last use. Programs have tokens: `svc tokens ls`."],
  args: [],
  flags: {},
  fields: SIGN_IN_FIELDS,
  examples: [
    ["svc sign-ins ls", "List all"],
    ["svc sign-ins ls --jq '.[].address'", "Only where they signed in from"],
  ],
});

export const end = spec({
  path: ["sign-ins", "end"],
  aliases: ["rm"],
  guesses: ["revoke"],
  summary: "Sign a browser out",
  about: ["Its next request is rejected, and its open streams end within seconds."],
  args: [{ name: "sign-in", summary: "The sign-in, by its id or the beginning of it", required: true }],
  flags: {},
  fields: ["sign_in_id", "ended"],
  examples: [
    ["svc sign-ins end 1f3a", "One"],
    ["svc sign-ins end 1f3a --json", "With JSON output"],
  ],
});

export const signIns: Group = {
  name: "sign-ins",
  summary: "Browsers in which you are signed in",
  commands: [
    bind(ls, () => import("../commands/sign-ins/ls.ts").then((module) => module.ls)),
    bind(end, () => import("../commands/sign-ins/end.ts").then((module) => module.end)),
  ],
};
