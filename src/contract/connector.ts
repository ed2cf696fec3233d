import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { oneOf } from "./schema.ts";

const time = Type.String({ format: "date-time" });
const orNull = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const CONNECTOR_TYPES = ["mcp", "openapi", "http"] as const;
export const POLICY_ACTIONS = ["allow", "ask", "deny"] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

/** How a call ended. `interrupted`: its server ended first. */
export const CALL_OUTCOMES = ["running", "ok", "failed", "denied", "interrupted"] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** A question about a call. `approved`: one such call may run; `used`: it has. */
export const ASK_STATES = ["pending", "approved", "denied", "used", "expired"] as const;

const slug = Type.String({ description: "The first part of the names of its tools" });
const action = oneOf(POLICY_ACTIONS);

/** A connector of the default branch's manifest. */
export const connector = Type.Object({
  slug,
  type: oneOf(CONNECTOR_TYPES),
  url: orNull(Type.String()),
  spec: orNull(Type.String({ description: "The OpenAPI description: a path in the repository or a URL" })),
  auth: orNull(
    Type.String({
      description: "The project's secret that is sent to it, or `oauth`: what a person connects",
    }),
  ),
  auth_header: orNull(Type.String()),
  secret_missing: Type.Boolean({
    description: "Whether that secret is not set, or nobody has connected it",
  }),
  connected_by: Type.Union([author, Type.Null()], { description: "Who has connected it, with `oauth`" }),
  connected_at: orNull(time),
  policies: Type.Array(Type.Object({ match: Type.String(), action }), {
    description: "The first that matches decides; none: deny, or allow if there are no policies",
  }),
});
export type Connector = Static<typeof connector>;

/** A tool of a connector, as agents see it, and what the policies say. */
export const connectorTool = Type.Object({
  name: Type.String({ description: "With the slug" }),
  original_name: Type.String({ description: "As the service names it: policies match this name" }),
  description: Type.String(),
  action: Type.Union([action, Type.Literal("by request")], {
    description: "`by request`: the policies are applied to the method and path of each call",
  }),
});
export type ConnectorTool = Static<typeof connectorTool>;

/** Answer of `POST /v1/projects/:id/connectors/:slug/test`. */
export const connectorTest = Type.Object({
  slug,
  tools: Type.Array(connectorTool),
  left_out: Type.Integer({ description: "Tools that are not offered: invalid, too large or too many" }),
  duration_ms: Type.Integer(),
});
export type ConnectorTest = Static<typeof connectorTest>;

/** A call of a connector's tool. Arguments and results are not recorded. */
export const connectorCall = Type.Object({
  call_id: Type.String({ format: "uuid" }),
  connector: Type.String(),
  tool: Type.String({ description: "As the service names it; for type http the method and path" }),
  action,
  outcome: oneOf(CALL_OUTCOMES),
  error: orNull(Type.String()),
  author: Type.Union([author, Type.Null()]),
  duration_ms: orNull(Type.Integer()),
  created_at: time,
});
export type ConnectorCall = Static<typeof connectorCall>;

/** A call that waits for a person's decision. */
export const connectorAsk = Type.Object({
  ask_id: Type.String({ format: "uuid" }),
  connector: Type.String(),
  tool: Type.String(),
  arguments: Type.String({ description: "The arguments of the call, as JSON" }),
  state: oneOf(ASK_STATES),
  session_id: orNull(Type.String()),
  author: Type.Union([author, Type.Null()]),
  answered_by: Type.Union([author, Type.Null()]),
  message: orNull(Type.String({ description: "The person's message to the agent" })),
  created_at: time,
  expires_at: time,
});
export type ConnectorAsk = Static<typeof connectorAsk>;

/** Bytes of a message to the agent. */
export const ASK_MESSAGE_MAX_BYTES = 2_000;

/** Body of `POST /v1/projects/:id/connector-asks/:askId/answer`. */
export const answerAskBody = Type.Object({
  answer: Type.Union([Type.Literal("approve"), Type.Literal("deny")]),
  message: Type.Optional(Type.String({ description: `At most ${ASK_MESSAGE_MAX_BYTES} bytes` })),
});
export type AnswerAskBody = Static<typeof answerAskBody>;

/** Answer of `POST …/connectors/:slug/connect`. */
export const connectorConsent = Type.Object({
  authorization_url: Type.String({ description: "The page where a person consents" }),
  expires_at: time,
});
export type ConnectorConsent = Static<typeof connectorConsent>;

/** Body of `POST …/connector-consents`: what the authorization server has added to the address of the page. */
export const completeConsentBody = Type.Object({
  state: Type.String({ maxLength: 200 }),
  code: Type.String({ minLength: 1, maxLength: 4_096 }),
  iss: Type.Optional(Type.String({ maxLength: 2_048, description: "The issuer (RFC 9207)" })),
});
export type CompleteConsentBody = Static<typeof completeConsentBody>;

export const connectedConnector = Type.Object({ slug });
