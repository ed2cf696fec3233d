import { createHmac, randomBytes } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";

const PREFIX = "whsec_";
/** Standard Webhooks: 24 to 64 bytes. */
const [KEY_MIN_BYTES, KEY_MAX_BYTES] = [24, 64];
const MADE_BYTES = 32;

/** A new secret, in the form of the Standard Webhooks specification. */
export function makeSecret(): string {
  return PREFIX + randomBytes(MADE_BYTES).toString("base64");
}

/** Checks a secret that a user chose. @throws validation_failed */
export function checkSecret(secret: string): string {
  const encoded = secret.slice(PREFIX.length);
  const key = Buffer.from(encoded, "base64");
  const isCanonical = key.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  if (
    secret.startsWith(PREFIX) &&
    isCanonical &&
    key.byteLength >= KEY_MIN_BYTES &&
    key.byteLength <= KEY_MAX_BYTES
  )
    return secret;
  const message = `must be ${PREFIX} and ${KEY_MIN_BYTES} to ${KEY_MAX_BYTES} bytes in base64`;
  throw new SvcError("validation_failed", `The secret ${message}. Leave it out, and svc makes one.`, {
    details: [{ path: "secret", message }],
  });
}

/** The headers of an attempt (Standard Webhooks): the id stays, the timestamp is of this attempt. */
export function signedHeaders(
  secret: string,
  { id, at, body }: { id: string; at: Date; body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
