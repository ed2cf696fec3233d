import type { AuditEvent } from "../../src/contract/audit.ts";
import { bind, type Command, spec } from "../spec.ts";
import { ACCOUNT_FLAG } from "./account-flag.ts";
import { fieldsOf } from "./fields.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";

const AUDIT_FIELDS = fieldsOf<AuditEvent>()([
  "id",
  "created_at",
  "action",
  "actor",
  "target",
  "target_id",
  "project_id",
  "address",
  "request_id",
  "details",
  "position",
  "hash",
]);

export const auditSpec = spec({
  path: ["audit"],
  guesses: ["audit-log"],
  summary: "Show the audit log of an account: who changed what, when and from where",
  about: ["For owners and admins. The newest entries come first; docs/audit.md lists what is recorded."],
  args: [],
  flags: {
    actor: {
      kind: "string",
      value: "who",
      summary: "Only by this person (e-mail address or id), session or token (id)",
    },
    action: {
      kind: "string",
      value: "name",
      summary: "Only one action (token.created), or one noun (token.*)",
    },
    target: { kind: "string", value: "name", summary: "Only about what has this name or id" },
    since: { kind: "string", value: "date", summary: "Only from this day or time on" },
    until: { kind: "string", value: "date", summary: "Only before this day or time" },
    limit: { ...LIMIT_FLAG, summary: "At most this many; 50 by default" },
    account: ACCOUNT_FLAG,
  },
  fields: AUDIT_FIELDS,
  examples: [
    ["svc audit", "The newest 50 entries of the active account"],
    ["svc audit --action 'token.*' --since 2026-11-01", "Tokens that were created or revoked since a date"],
    ["svc audit --actor ada@example.com --json=created_at,action,target", "What one person did, as JSON"],
  ],
});

export const audit: Command = bind(auditSpec, () =>
  import("../commands/audit.ts").then((module) => module.audit),
);
