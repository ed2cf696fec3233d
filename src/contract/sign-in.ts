import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX, PASSWORD_MAX, PASSWORD_MIN } from "./limits.ts";

/**
 * The header of every request by the dashboard. A cookie is accepted only with it: pages of other sites cannot send it,
 * because svc answers no CORS preflight, and links and forms cannot send it either.
 */
export const DASHBOARD_HEADER = "X-Svc-Dashboard";
/** Its value. */
export const DASHBOARD = "1";

/** Characters of an e-mail address (RFC 5321: 254); the server validates it further. */
const EMAIL_MAX = 254;

const email = Type.String({ minLength: 1, maxLength: EMAIL_MAX });

/** Body of `POST /v1/auth/sign-in`. */
export const signInBody = Type.Object({ email, password: Type.String({ maxLength: PASSWORD_MAX }) });

const name = Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" });
const newPassword = Type.String({ minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX });
const linkToken = Type.String({ minLength: 1, maxLength: 128 });

/** Body of `POST /v1/auth/sign-up`; `invitation` is the token of an invitation's link. */
export const signUpBody = Type.Object({
  email,
  name,
  password: newPassword,
  invitation: Type.Optional(linkToken),
});
export type SignUpBody = Static<typeof signUpBody>;

/** Body of `POST /v1/auth/password`. */
export const passwordBody = Type.Object({
  current_password: Type.String({ maxLength: PASSWORD_MAX }),
  new_password: newPassword,
});

/** Answer of every request that signs a browser in. */
export const signedIn = Type.Object({
  user_id: Type.String({ format: "uuid" }),
  email: Type.String(),
  name: Type.String(),
});
export type SignedIn = Static<typeof signedIn>;

/** What a link does: create the first user, set a password, or accept an invitation to an account. */
export const LINK_KINDS = ["first_user", "password", "invitation"] as const;

/** Query of `GET /v1/auth/link`. */
export const linkQuery = Type.Object({ token: linkToken });

/** Its answer: the data of the page of a link. */
export const link = Type.Object({
  kind: Type.Union([Type.Literal("first_user"), Type.Literal("password"), Type.Literal("invitation")]),
  email: Type.Union([Type.String(), Type.Null()]),
  account_name: Type.Optional(Type.String()),
  role: Type.Optional(Type.Union([Type.Literal("owner"), Type.Literal("admin"), Type.Literal("member")])),
  expires_at: Type.String({ format: "date-time" }),
});
export type Link = Static<typeof link>;

/**
 * Body of `POST /v1/auth/link`. `email` is required if the link has none; `password` unless a signed-in user accepts an
 * invitation.
 */
export const linkBody = Type.Object({
  token: linkToken,
  name: Type.Optional(name),
  email: Type.Optional(email),
  password: Type.Optional(newPassword),
});
export type LinkBody = Static<typeof linkBody>;

/** Who may sign up: invited people, or everyone. */
export const SIGN_UP = ["invited", "open"] as const;

/** Answer of `GET /v1/auth/session`. */
export const browserSession = Type.Object({
  signed_in: Type.Boolean(),
  user: Type.Optional(signedIn),
  sign_up: Type.Union([Type.Literal("open"), Type.Literal("invited")]),
  github: Type.Boolean({ description: "Whether people may sign in with GitHub." }),
  first_user: Type.Boolean({ description: "Whether no user has a password yet." }),
});
export type BrowserSession = Static<typeof browserSession>;

const time = Type.String({ format: "date-time" });

/** A browser in which a user is signed in. */
export const signIn = Type.Object({
  sign_in_id: Type.String({ format: "uuid" }),
  user_agent: Type.Union([Type.String(), Type.Null()], { description: "What the browser said that it is" }),
  address: Type.Union([Type.String(), Type.Null()], {
    description: "Where it signed in from; for IPv6, the network of 64 bits",
  }),
  created_at: time,
  last_used_at: { ...time, description: "To within a day" },
  expires_at: time,
  is_current: Type.Boolean({ description: "Whether it is the browser of this request" }),
});
export type SignIn = Static<typeof signIn>;
