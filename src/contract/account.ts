import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX } from "./limits.ts";
import { SCOPES } from "./scope.ts";
import { budget, sessionBudget } from "./usage.ts";

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
const nullableTime = Type.Union([time, Type.Null()]);
const scopes = Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
  description: "What the token may do at most: the role of its user decides the rest",
});
const wantedScopes = Type.Optional(
  Type.Array(Type.Union(SCOPES.map((scope) => Type.Literal(scope))), {
    minItems: 1,
    uniqueItems: true,
    description: "Default: write, which includes all others",
  }),
);

/** Answer of `GET /v1/accounts/me`. */
export const me = Type.Object({
  user_id: uuid,
  email: Type.String(),
  name: Type.String(),
  is_operator: Type.Boolean({ description: "Whether the user manages the server's own settings" }),
  accounts: Type.Array(
    Type.Object({
      account_id: uuid,
      name: Type.String(),
      slug: Type.String(),
      role: Type.Union([Type.Literal("owner"), Type.Literal("admin"), Type.Literal("member")]),
      tier: Type.String(),
    }),
  ),
});
export type Me = Static<typeof me>;

const role = Type.Union([Type.Literal("owner"), Type.Literal("admin"), Type.Literal("member")]);
const accountName = Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" });

/** Answer of `GET /v1/accounts/:accountId`. */
export const account = Type.Object({
  account_id: uuid,
  name: Type.String(),
  slug: Type.String(),
  tier: Type.String(),
  role: Type.Union([role], { description: "The role of the caller." }),
  model_budget: budget,
  model_session_budget: sessionBudget,
  created_at: time,
});
export type Account = Static<typeof account>;

/** Body of `PATCH /v1/accounts/:accountId`. */
export const editAccountBody = Type.Object(
  {
    name: Type.Optional(accountName),
    model_budget: Type.Optional(budget),
    model_session_budget: Type.Optional(sessionBudget),
  },
  { minProperties: 1 },
);
export type EditAccountBody = Static<typeof editAccountBody>;

/** A member of an account. */
export const member = Type.Object({
  user_id: uuid,
  email: Type.String(),
  name: Type.String(),
  role,
  created_at: time,
});
export type Member = Static<typeof member>;

/** Body of `PATCH /v1/accounts/:accountId/members/:userId`. */
export const editMemberBody = Type.Object({ role });

/** A pending invitation, without its link. */
export const invitation = Type.Object({
  invitation_id: uuid,
  email: Type.Union([Type.String(), Type.Null()], { description: "Null: anyone with the link can accept." }),
  role,
  created_by: Type.Union([uuid, Type.Null()]),
  created_at: time,
  expires_at: time,
});
export type Invitation = Static<typeof invitation>;

/** Answer of `POST /v1/accounts/:accountId/invitations`: the only time the link is shown. */
export const madeInvitation = Type.Composite([invitation, Type.Object({ url: Type.String() })]);
export type MadeInvitation = Static<typeof madeInvitation>;

/** Body of `POST /v1/accounts/:accountId/invitations`. */
export const inviteBody = Type.Object({ email: Type.Optional(Type.String({ maxLength: 254 })), role });
export type InviteBody = Static<typeof inviteBody>;

export type { Role } from "./role.ts";
export { SERVICE_KEY_PREFIX, TOKEN_PREFIX } from "./token.ts";

/** A user token without its secret. */
export const userToken = Type.Object({
  token_id: uuid,
  name: Type.String(),
  scopes,
  created_at: time,
  last_used_at: nullableTime,
  expires_at: nullableTime,
});
export type UserToken = Static<typeof userToken>;

/** Answer of `POST /v1/accounts/tokens`: the only time the secret is shown. */
export const mintedUserToken = Type.Composite([userToken, Type.Object({ token: Type.String() })]);
export type MintedUserToken = Static<typeof mintedUserToken>;

/** Body of `POST /v1/accounts/tokens`; with a `device_user_code`, the waiting program receives the token. */
export const mintUserTokenBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" }),
  expires_at: Type.Optional(time),
  scopes: wantedScopes,
  device_user_code: Type.Optional(Type.String({ maxLength: 32 })),
});
export type MintUserTokenBody = Static<typeof mintUserTokenBody>;

/** A project token without its secret. */
export const projectToken = Type.Object({
  token_id: uuid,
  name: Type.String(),
  project_id: uuid,
  session_id: Type.Union([Type.String(), Type.Null()]),
  scopes,
  created_at: time,
  last_used_at: nullableTime,
  expires_at: nullableTime,
});
export type ProjectToken = Static<typeof projectToken>;

/** Answer of `POST /v1/projects/:id/cli-token`. */
export const mintedProjectToken = Type.Composite([projectToken, Type.Object({ token: Type.String() })]);
export type MintedProjectToken = Static<typeof mintedProjectToken>;

/** Body of `POST /v1/projects/:id/cli-token`; the body is optional. */
export const mintProjectTokenBody = Type.Optional(
  Type.Object({
    name: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" })),
    session_id: Type.Optional(Type.String({ maxLength: NAME_MAX })),
    expires_at: Type.Optional(time),
    scopes: wantedScopes,
  }),
);
export type MintProjectTokenBody = Static<typeof mintProjectTokenBody>;

/** Answer of `GET /v1/auth/whoami`: the identity of a token. */
export const identity = Type.Object({
  kind: Type.Union([Type.Literal("user"), Type.Literal("project")]),
  user_id: Type.String({ format: "uuid" }),
  email: Type.String(),
  name: Type.String(),
  project_id: Type.Union([Type.String({ format: "uuid" }), Type.Null()]),
  project_name: Type.Union([Type.String(), Type.Null()]),
  session_id: Type.Union([Type.String(), Type.Null()]),
  scopes,
  expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
});
export type Identity = Static<typeof identity>;
