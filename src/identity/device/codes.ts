import { randomBytes, randomInt } from "node:crypto";
import type { Keys } from "../../keys.ts";

/** Letters of user codes: no vowels, so no words, and none that look alike (RFC 8628, 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
/** 20^8, about 34 bits: enough for ten minutes and few attempts. */
const LENGTH = 8;
const SHOWN = /^[A-Z]{8}$/;

/** The code for people, `XXXX-XXXX`. */
export function makeUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join("");
  return shown(letters);
}

/** The code for the program. */
export function makeDeviceCode(): string {
  return randomBytes(32).toString("base64url");
}

/** Reads a user code in any case, with or without the hyphen. @returns null when it is not valid */
export function readUserCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[\s-]/g, "");
  return SHOWN.test(letters) ? shown(letters) : null;
}

export function hashUserCode(keys: Pick<Keys, "mac">, code: string): string {
  return keys.mac("device user code", code).toString("hex");
}

export function hashDeviceCode(keys: Pick<Keys, "mac">, code: string): string {
  return keys.mac("device code", code).toString("hex");
}

function shown(letters: string): string {
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`;
}
