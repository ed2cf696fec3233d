import type { AddSigningKeyBody, SigningKey } from "../../src/contract/signing-key.ts";

const signingKey: SigningKey = {
  id: 3,
  key: "ssh-ed25519 AAAA",
  fingerprint: "SHA256:abc",
  title: "laptop",
  created_at: "2026-11-20T10:00:00.000Z",
};

/** A server's responses about signing keys. */
export const SIGNING_KEY_ROUTES = {
  "GET /users/me/signing-keys": () => [signingKey],
  "POST /users/me/signing-keys": ({ body }: { body: unknown }) =>
    Response.json({ ...signingKey, ...(body as AddSigningKeyBody) }, { status: 201 }),
  "DELETE /users/me/signing-keys/3": () => ({ ok: true }),
};
