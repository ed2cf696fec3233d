import type { Invitation, MadeInvitation, Member } from "../../src/contract/account.ts";
import { ROLES } from "../../src/contract/role.ts";
import { bind, type Group, spec } from "../spec.ts";
import { ACCOUNT_FLAG } from "./account-flag.ts";
import { fieldsOf } from "./fields.ts";

const MEMBER_FIELDS = fieldsOf<Member>()(["user_id", "email", "name", "role", "created_at"]);
const INVITATION_FIELDS = fieldsOf<Invitation>()([
  "invitation_id",
  "email",
  "role",
  "created_by",
  "created_at",
  "expires_at",
]);
const MADE_FIELDS = fieldsOf<MadeInvitation>()([...INVITATION_FIELDS, "url"]);
const MEMBER = {
  name: "member",
  summary: "The member, by e-mail address, or by the beginning of the id",
  required: true,
} as const;

export const ls = spec({
  path: ["members", "ls"],
  summary: "List the members of an account",
  args: [],
  flags: { account: ACCOUNT_FLAG },
  fields: MEMBER_FIELDS,
  examples: [
    ["svc members ls", "Those of the active account"],
    ["svc members ls --jq '.[] | select(.role != \"member\") | .email'", "Only owners and admins"],
  ],
});

export const invite = spec({
  path: ["members", "invite"],
  guesses: ["add", "new"],
  summary: "Create a link by which one person can join an account",
  about: [
    "The link is printed once. It works once and for seven days. With an e-mail address only the user with that address can use it; without one, anyone who has it.",
  ],
  args: [{ name: "email", summary: "The e-mail address of the person" }],
  flags: {
    account: ACCOUNT_FLAG,
    role: { kind: "string", value: "role", choices: ROLES, summary: "Their role; a member by default" },
  },
  fields: MADE_FIELDS,
  examples: [
    ["svc members invite ada@example.com", "As a member"],
    ["svc members invite ada@example.com --role admin --jq .url", "Only the link"],
  ],
});

export const role = spec({
  path: ["members", "role"],
  guesses: ["edit", "update", "promote"],
  summary: "Change the role of a member",
  about: ["Only owners can make owners, and an account keeps at least one."],
  args: [MEMBER, { name: "role", summary: "The new role", required: true, choices: ROLES }],
  flags: { account: ACCOUNT_FLAG },
  fields: MEMBER_FIELDS,
  examples: [
    ["svc members role ada@example.com admin", "Make somebody an admin"],
    ["svc members role ada@example.com member --account acme", "In another account"],
  ],
});

export const rm = spec({
  path: ["members", "rm"],
  summary: "Remove a member from an account",
  about: [
    "They lose access at once, and their open streams end within seconds. Sessions that they have started go on.",
  ],
  args: [MEMBER],
  flags: {
    account: ACCOUNT_FLAG,
    yes: { kind: "boolean", short: "y", summary: "Remove them without a prompt" },
  },
  fields: ["user_id", "email", "removed"],
  examples: [
    ["svc members rm ada@example.com", "Remove a member, after a prompt"],
    ["svc members rm ada@example.com --yes", "Without a prompt"],
  ],
});

export const invitations = spec({
  path: ["members", "invitations"],
  summary: "List the open invitations of an account, without their links",
  args: [],
  flags: { account: ACCOUNT_FLAG },
  fields: INVITATION_FIELDS,
  examples: [
    ["svc members invitations", "Those of the active account"],
    ["svc members invitations --jq '.[].email'", "Only for whom they are"],
  ],
});

export const withdraw = spec({
  path: ["members", "withdraw"],
  summary: "Withdraw an open invitation",
  args: [{ name: "invitation", summary: "The invitation, by its id or the beginning of it", required: true }],
  flags: { account: ACCOUNT_FLAG },
  fields: ["invitation_id", "email", "withdrawn"],
  examples: [
    ["svc members withdraw 1f3a", "Its link no longer works"],
    ["svc members withdraw 1f3a --account acme", "One of another account"],
  ],
});

export const members: Group = {
  name: "members",
  summary: "Members of an account, their roles, and invitations",
  commands: [
    bind(ls, () => import("../commands/members/ls.ts").then((module) => module.ls)),
    bind(invite, () => import("../commands/members/invite.ts").then((module) => module.invite)),
    bind(role, () => import("../commands/members/role.ts").then((module) => module.role)),
    bind(rm, () => import("../commands/members/rm.ts").then((module) => module.rm)),
    bind(invitations, () =>
      import("../commands/members/invitations.ts").then((module) => module.invitations),
    ),
    bind(withdraw, () => import("../commands/members/withdraw.ts").then((module) => module.withdraw)),
  ],
};
