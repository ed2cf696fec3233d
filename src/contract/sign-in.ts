import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX, PASSWORD_MAX, PASSWORD_MIN } from "./limits.ts";

/**
 * The header that svc's own pages send with everything that they ask. A cookie counts only beside it: no other site's
 * page can send it, since no CORS preflight is ever answered, and neither a link nor a form can.
 */
export const DASHBOARD_HEADER = "X-Svc-Dashboard";
/** Its value. */
export const DASHBOARD = "1";

/** What a form may send for an e-mail address, in characters (RFC 5321: 254); the server looks closer. */
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

/** Answer of whatever signs a browser in. */
export const signedIn = Type.Object({
  user_id: Type.String({ format: "uuid" }),
  email: Type.String(),
  name: Type.String(),
});
export type SignedIn = Static<typeof signedIn>;

/** What a link does: it makes the first user, sets a user's password, or lets somebody into an account. */
export const LINK_KINDS = ["first_user", "password", "invitation"] as const;

/** Query of `GET /v1/auth/link`. */
export const linkQuery = Type.Object({ token: linkToken });

/** Its answer: what the page of a link says. */
export const link = Type.Object({
  kind: Type.Union([Type.Literal("first_user"), Type.Literal("password"), Type.Literal("invitation")]),
  email: Type.Union([Type.String(), Type.Null()]),
  account_name: Type.Optional(Type.String()),
  role: Type.Optional(Type.Union([Type.Literal("owner"), Type.Literal("admin"), Type.Literal("member")])),
  expires_at: Type.String({ format: "date-time" }),
});
export type Link = Static<typeof link>;

/**
 * Body of `POST /v1/auth/link`. `email` where the link names none; `password` always, but of who takes an invitation up
 * while signed in.
 */
export const linkBody = Type.Object({
  token: linkToken,
  name: Type.Optional(name),
  email: Type.Optional(email),
  password: Type.Optional(newPassword),
});
export type LinkBody = Static<typeof linkBody>;

/** Who may make a user: whoever was invited, or everybody. */
export const SIGN_UP = ["invited", "open"] as const;

/** Answer of `GET /v1/auth/session`. */
export const browserSession = Type.Object({
  signed_in: Type.Boolean(),
  user: Type.Optional(signedIn),
  sign_up: Type.Union([Type.Literal("open"), Type.Literal("invited")]),
  github: Type.Boolean({ description: "Whether people may sign in with GitHub." }),
  first_user: Type.Boolean({ description: "Nobody can sign in with a password yet." }),
});
export type BrowserSession = Static<typeof browserSession>;
