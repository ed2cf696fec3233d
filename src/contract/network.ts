import { type Static, Type } from "@sinclair/typebox";
import { changeRequest } from "./change-request.ts";
import { EGRESS_ENTRY_MAX, EGRESS_MODES } from "./egress/policy.ts";
import { REFUSAL_REASONS } from "./egress/refusal.ts";
import { nullable, oneOf } from "./schema.ts";

/** Entries that one request adds to the list. */
const HOSTS_MAX = 20;

/** Connections of a session's sandboxes to one target. */
export const sessionConnection = Type.Object({
  /** Why it was refused: the policy does not allow the target, or allows none; the address is not public; or TLS named another server. */
  outcome: oneOf(["passed", ...REFUSAL_REASONS] as const),
  host: nullable(Type.String(), "Null: all further hosts together"),
  port: nullable(Type.Integer(), "Null for `passed`, which are counted by host"),
  connections: Type.Integer(),
  sent: Type.Integer({ description: "In bytes" }),
  received: Type.Integer({ description: "In bytes" }),
  last_at: Type.String({ format: "date-time" }),
});
export type SessionConnection = Static<typeof sessionConnection>;

/** Answer of `GET /v1/projects/:id/sessions/:sid/network`. */
export const sessionNetwork = Type.Object({
  egress: nullable(oneOf(EGRESS_MODES), "Of its last sandbox; null: it has had none"),
  allow: Type.Array(Type.String({ description: "What it may connect to, if `egress` is not `open`" })),
  connections: Type.Array(sessionConnection),
});
export type SessionNetwork = Static<typeof sessionNetwork>;

/** Body of `POST /v1/projects/:id/network/allow`. */
export const allowHostsBody = Type.Object({
  hosts: Type.Array(Type.String({ minLength: 1, maxLength: EGRESS_ENTRY_MAX }), {
    minItems: 1,
    maxItems: HOSTS_MAX,
    description: "Entries such as `api.example.com`, `*.example.com` or `example.com:8443`",
  }),
});

/** Answer to it. `unchanged`: the list has all of them. */
export const allowedHosts = Type.Object({
  hosts: Type.Array(Type.String()),
  status: oneOf(["unchanged", "open"] as const),
  egress: oneOf(EGRESS_MODES),
  change_request: nullable(changeRequest),
});
export type AllowedHosts = Static<typeof allowedHosts>;
