import { timingSafeEqual } from "node:crypto";

/** Whether a text that was sent is the secret, in a time that does not depend on where they differ. */
export function isSameSecret(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
