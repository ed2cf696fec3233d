import { type Static, Type } from "@sinclair/typebox";

/**
 * The header that svc's own pages send with everything that they ask. A cookie counts only beside it: no other site's
 * page can send it, since no CORS preflight is ever answered, and neither a link nor a form can.
 */
export const DASHBOARD_HEADER = "X-Svc-Dashboard";
/** Its value. */
export const DASHBOARD = "1";

/** NIST SP 800-63B: at least 8 characters, no rules of composition; the upper bound keeps hashing cheap. */
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 256;

/** What a form may send for an e-mail address, in characters (RFC 5321: 254); the server looks closer. */
const EMAIL_MAX = 254;

const email = Type.String({ minLength: 1, maxLength: EMAIL_MAX });

/** Body of `POST /v1/auth/sign-in`. */
export const signInBody = Type.Object({ email, password: Type.String({ maxLength: PASSWORD_MAX }) });

/** Answer of whatever signs a browser in. */
export const signedIn = Type.Object({
  user_id: Type.String({ format: "uuid" }),
  email: Type.String(),
  name: Type.String(),
});
export type SignedIn = Static<typeof signedIn>;

/** Answer of `GET /v1/auth/session`. */
export const browserSession = Type.Object({
  signed_in: Type.Boolean(),
  user: Type.Optional(signedIn),
  sign_up: Type.Union([Type.Literal("open"), Type.Literal("invited")]),
  github: Type.Boolean({ description: "Whether people may sign in with GitHub." }),
  first_user: Type.Boolean({ description: "Nobody can sign in with a password yet." }),
});
export type BrowserSession = Static<typeof browserSession>;
