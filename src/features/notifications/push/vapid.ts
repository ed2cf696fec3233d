import { createECDH, createPrivateKey, sign } from "node:crypto";
import type { Keys } from "../../../keys.ts";

/** Push services take tokens of up to a day (RFC 8292, 2). */
const TOKEN_S = 12 * 3_600;

/**
 * The key pair by which push services recognize this server (VAPID, RFC 8292). It follows from the master key, so that all
 * servers of a database have the same, and a restored one keeps its subscriptions.
 */
export function vapidKeys(keys: Pick<Keys, "mac">) {
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(keys.mac("vapid", "1"));
  return { publicKey: pair.getPublicKey(), privateKey: pair.getPrivateKey() };
}

/** The `Authorization` of a request to a push service. @param site who sends, if that is an https:// URL */
export function vapidHeader(
  keys: Pick<Keys, "mac">,
  { endpoint, now, site }: { endpoint: URL; now: Date; site: string },
): string {
  const { publicKey, privateKey } = vapidKeys(keys);
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    aud: endpoint.origin,
    exp: Math.floor(now.getTime() / 1000) + TOKEN_S,
    ...(site.startsWith("https://") && { sub: site }),
  };
  const signed = `${encoded({ typ: "JWT", alg: "ES256" })}.${encoded(claims)}`;
  const key = createPrivateKey({
    format: "jwk",
    key: {
      ...{ kty: "EC", crv: "P-256", d: privateKey.toString("base64url") },
      x: publicKey.subarray(1, 33).toString("base64url"),
      y: publicKey.subarray(33).toString("base64url"),
    },
  });
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `vapid t=${signed}.${signature.toString("base64url")}, k=${publicKey.toString("base64url")}`;
}
