import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX } from "./limits.ts";

/** Signing keys of one user: the keys of a commit's page are compared with those of its committer. */
export const SIGNING_KEYS_MAX = 50;
/** Characters of a public key: an RSA key of 8,192 bits has 1,400, and a comment follows. */
const KEY_MAX = 8_192;

/** A public key that verifies a user's commits: with GitHub's field names. */
export const signingKey = Type.Object({
  id: Type.Integer(),
  key: Type.String({ description: "The public key, without its comment" }),
  fingerprint: Type.String({ description: "`SHA256:…`, as `ssh-keygen -l` prints it" }),
  title: Type.String(),
  created_at: Type.String({ format: "date-time" }),
});
export type SigningKey = Static<typeof signingKey>;

/** Answer of `GET /v1/users/me/signing-keys`, the oldest first. */
export const signingKeyList = Type.Array(signingKey);

/** Body of `POST /v1/users/me/signing-keys`. */
export const addSigningKeyBody = Type.Object({
  key: Type.String({
    minLength: 1,
    maxLength: KEY_MAX,
    description: "An SSH public key as in a `.pub` file: Ed25519, ECDSA or RSA",
  }),
  title: Type.Optional(
    Type.String({ minLength: 1, maxLength: NAME_MAX, description: "Default: the comment of the key" }),
  ),
});
export type AddSigningKeyBody = Static<typeof addSigningKeyBody>;
