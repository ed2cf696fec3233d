import { timingSafeEqual } from "node:crypto";
import { PREVIEW_COOKIE_LIFE_S } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { previewSite } from "../../features/apps/site.ts";
import type { Visitor } from "../../identity/auth/browser-link.ts";
import type { RequestHead } from "../../splice/head.ts";
import type { PreviewPlace } from "./preview-host.ts";

const PURPOSE = "preview cookie";

/**
 * The `Set-Cookie` that keeps a browser signed in to one port of one session: `<claims>.<HMAC-SHA256 of them>`, both
 * base64url. It is host-only; over TLS the `__Host-` prefix keeps other hosts from setting it.
 */
export function writePreviewCookie(deps: Deps, { sessionId, port }: PreviewPlace, visitor: Visitor): string {
  const expiresAt = Math.floor(deps.clock().getTime() / 1000) + PREVIEW_COOKIE_LIFE_S;
  const claims = [sessionId, port, visitor.userId, visitor.role, expiresAt];
  const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
  const value = `${body}.${deps.keys.mac(PURPOSE, body).toString("base64url")}`;
  const secure = isSecure(deps) ? "; Secure" : "";
  return `${nameOf(deps)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${PREVIEW_COOKIE_LIFE_S}${secure}`;
}

/** The values of the cookie in a request: another host of the same domain may have set a second one. */
export function previewCookies(deps: Deps, head: RequestHead): string[] {
  const start = `${nameOf(deps)}=`;
  return head.fields
    .filter(({ key }) => key === "cookie")
    .flatMap(({ value }) => value.split(";"))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(start))
    .map((cookie) => cookie.slice(start.length))
    .slice(0, TRIED_MAX);
}

/** Far more than browsers send; each is verified by its signature. */
const TRIED_MAX = 8;

/** @returns the visitor of the first valid cookie for this place; null when there is none */
export function visitorOf(
  deps: Pick<Deps, "keys" | "clock">,
  cookies: readonly string[],
  place: PreviewPlace,
): Visitor | null {
  return cookies.map((cookie) => readPreviewCookie(deps, cookie, place)).find((found) => found) ?? null;
}

/** Whether svc has written a cookie, for any place. */
export function isSigned({ keys }: Pick<Deps, "keys">, value: string): boolean {
  const [body = "", signature = ""] = value.split(".");
  const expected = keys.mac(PURPOSE, body);
  const given = Buffer.from(signature, "base64url");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function readPreviewCookie(
  deps: Pick<Deps, "keys" | "clock">,
  value: string,
  place: PreviewPlace,
): Visitor | null {
  if (!isSigned(deps, value)) return null;
  const [body = ""] = value.split(".");
  const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  const [sessionId, port, userId, role, expiresAt]: unknown[] = Array.isArray(claims) ? claims : [];
  if (sessionId !== place.sessionId || port !== place.port) return null;
  if (typeof userId !== "string" || (role !== "user" && role !== "agent")) return null;
  if (typeof expiresAt !== "number" || expiresAt * 1000 <= deps.clock().getTime()) return null;
  return { userId, role };
}

function nameOf(deps: Deps): string {
  return isSecure(deps) ? "__Host-svc_preview" : "svc_preview";
}

function isSecure(deps: Deps): boolean {
  return previewSite(deps).scheme === "https";
}
