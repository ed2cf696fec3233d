import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "./schema.ts";
import type { TimelineEventName } from "./timeline.ts";

/** What the audit log records: a noun, and what happened to it. */
export const AUDIT_ACTIONS = [
  "user.signed_up",
  "user.signed_in",
  "user.sign_in_failed",
  "user.signed_out",
  "user.password_changed",
  "user.password_link_created",
  "user.operator_changed",
  "sign_in.ended",
  "token.created",
  "token.revoked",
  "device.approved",
  "device.denied",
  "signing_key.added",
  "signing_key.removed",
  "own_secret.set",
  "own_secret.deleted",
  "own_secret.allowed",
  "own_secret.denied",
  "account.edited",
  "member.joined",
  "member.role_changed",
  "member.removed",
  "invitation.created",
  "invitation.withdrawn",
  "project.created",
  "project.edited",
  "project.deleted",
  "branch.unprotected",
  "git_credential.set",
  "secret.set",
  "secret.deleted",
  "webhook.created",
  "webhook.edited",
  "webhook.deleted",
  "webhook.tested",
  "webhook.redelivered",
  "model_upstream.set",
  "model_upstream.removed",
  "channel.connected",
  "channel.disconnected",
  "connector.connected",
  "connector.disconnected",
  "connector_ask.answered",
  "session.created",
  "session.edited",
  "session.stopped",
  "session.restarted",
  "session.deleted",
  "session.prompted",
  "session.command_started",
  "app.deployed",
  "app.rolled_back",
  "app.stopped",
  "volume.removed",
  "domain.added",
  "domain.removed",
  "label.created",
  "label.edited",
  "label.deleted",
] as const;
/** Those of a change request are the events of its timeline. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number] | `cr.${TimelineEventName}`;

/** Who acted, as they were then: the person may be gone. */
export const auditActor = Type.Object({
  user_id: Type.String({ format: "uuid", description: "The person, also if an agent or a token acted" }),
  name: Type.String({ description: "The person's name at that time" }),
  email: Type.String({ description: "The person's e-mail address at that time" }),
  kind: Type.Union([Type.Literal("user"), Type.Literal("agent"), Type.Literal("token")]),
  session_id: nullable(Type.String(), "The agent's session"),
  token_id: nullable(Type.String({ format: "uuid" }), "The token; null for a browser"),
  token_name: nullable(Type.String(), "The name of a project token that no session has"),
});

/** An entry of the audit log. */
export const auditEvent = Type.Object({
  id: Type.Integer({ description: "Ascending, with gaps" }),
  created_at: Type.String({ format: "date-time" }),
  action: Type.String({ description: "A noun and what happened to it, such as token.created" }),
  actor: nullable(auditActor, "Null: svc itself, an operator on the server's machine, or somebody unknown"),
  target: Type.String({ description: "What was changed: its name at that time" }),
  target_id: nullable(Type.String(), "Its id"),
  project_id: nullable(Type.String({ format: "uuid" }), "The project that it belongs to"),
  address: nullable(Type.String(), "The client's address; of IPv6, its network"),
  request_id: nullable(Type.String(), "The X-Request-Id of the request, which the server's log has, too"),
  details: Type.Record(Type.String(), Type.Unknown(), {
    description: "What the action adds; never a secret",
  }),
  position: nullable(Type.Integer(), "The position in the chain of hashes; null: not sealed yet"),
  hash: nullable(Type.String(), "The hash at that position"),
});
export type AuditEvent = Static<typeof auditEvent>;

/** Characters of a filter of the log. */
const FILTER_MAX = 256;

/** The filters of `GET /v1/accounts/:id/audit`. */
export const auditQuery = {
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FILTER_MAX,
      description: "A person's id or e-mail address, the id of an agent's session, or the id of a token",
    }),
  ),
  action: Type.Optional(
    Type.String({
      pattern: "^[a-z_]+(\\.([a-z_]+|\\*))?$",
      maxLength: FILTER_MAX,
      description: "An action, such as token.created, or all of one noun: token.*",
    }),
  ),
  target: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: FILTER_MAX,
      description: "The name or the id of what was changed",
    }),
  ),
  since: Type.Optional(Type.String({ format: "date-time", description: "Not before this time" })),
  until: Type.Optional(Type.String({ format: "date-time", description: "Before this time" })),
};
