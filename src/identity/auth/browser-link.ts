import { randomBytes } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import { PREVIEW_LINK_LIFE_S } from "../../contract/preview.ts";
import { PREVIEW_LINK_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "./caller.ts";

/** A user or agent who signs in by a link. */
export interface Visitor {
  userId: string;
  role: "user" | "agent";
}

/** Unused links to one app or session. */
const LINKS_MAX = 100;

/** A link that signs in one browser, once: its secret, and the row to store. */
export function newBrowserLink(
  { keys, clock }: Pick<Deps, "keys" | "clock">,
  caller: Caller,
): { token: string; kept: Visitor & { hash: string; expiresAt: Date } } {
  const token = PREVIEW_LINK_PREFIX + randomBytes(32).toString("base64url");
  const expiresAt = new Date(clock().getTime() + PREVIEW_LINK_LIFE_S * 1000);
  const role = caller.kind === "user" ? "user" : "agent";
  return { token, kept: { hash: keys.hashToken(token), userId: caller.userId, role, expiresAt } };
}

/** @param whose the links' owner, the beginning of the error message. @throws rate_limited */
export function refuseMoreLinks(unused: number, whose: string): void {
  if (unused < LINKS_MAX) return;
  const sentence = `${whose} has ${LINKS_MAX} unused links. Open one, or wait until they expire.`;
  throw new SvcError("rate_limited", sentence, {}, { "Retry-After": String(PREVIEW_LINK_LIFE_S) });
}
