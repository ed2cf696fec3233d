import type { Config } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { DASHBOARD, DASHBOARD_HEADER } from "../../contract/sign-in.ts";
import { BROWSER_SESSION_PREFIX } from "../../contract/token.ts";
import { BROWSER_SESSION_LIFE_S } from "./browser.ts";

type Place = Pick<Config, "publicUrl">;

/** The parts of a request that authenticate its cookie. */
export interface CookieRequest {
  /** A header's value; null without it. */
  header(name: string): string | null;
  /** The host that the client requested, with its port. */
  host: string;
}

/** For a request that the listener has forwarded, which sets `X-Forwarded-Host`. */
export function cookieRequestOf({ headers }: Request): CookieRequest {
  return { header: (name) => headers.get(name), host: headers.get("x-forwarded-host") ?? "" };
}

/**
 * The secret of a browser's cookie. It counts only with the header `X-Svc-Dashboard`, which only svc's own pages can send:
 * browsers send the cookie also with requests from other sites. A WebSocket cannot have it, and always has an `Origin`.
 * @returns null without the header or without svc's cookie
 * @throws forbidden for a request from another site
 */
export function cookieSecret(deps: { config: Place }, cookieRequest: CookieRequest): string | null {
  const isWebSocket =
    cookieRequest.header("upgrade")?.toLowerCase() === "websocket" && cookieRequest.header("origin") !== null;
  if (!isWebSocket && cookieRequest.header(DASHBOARD_HEADER) !== DASHBOARD) return null;
  const secret = readCookie(deps.config, cookieRequest.header("cookie"));
  if (secret !== null) refuseCrossOrigin(deps.config, cookieRequest);
  return secret;
}

/**
 * Rejects requests from other sites to sign in or out: they could sign a person in as another user.
 * @throws forbidden
 */
export function requireDashboard(deps: { config: Place }, cookieRequest: CookieRequest): void {
  if (cookieRequest.header(DASHBOARD_HEADER) !== DASHBOARD) {
    const sentence = `Only svc's own pages can use this route: they send the header ${DASHBOARD_HEADER}. Use a token instead.`;
    throw new SvcError("forbidden", sentence);
  }
  refuseCrossOrigin(deps.config, cookieRequest);
}

/** `Set-Cookie` of a signed-in browser (RFC 6265bis); over TLS its `__Host-` prefix keeps other hosts from setting it. */
export function writeCookie(config: Place, secret: string): string {
  return setCookie(config, secret, BROWSER_SESSION_LIFE_S);
}

/** `Set-Cookie` that deletes the cookie. */
export function clearCookie(config: Place): string {
  return setCookie(config, "", 0);
}

function setCookie(config: Place, value: string, lifeS: number): string {
  const secure = isSecure(config) ? "; Secure" : "";
  return `${nameOf(config)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifeS}${secure}`;
}

function readCookie(config: Place, header: string | null): string | null {
  const start = `${nameOf(config)}=${BROWSER_SESSION_PREFIX}`;
  const cookie = header
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  return cookie === undefined ? null : cookie.slice(nameOf(config).length + 1);
}

/** The origin can be the public URL: a reverse proxy may use another host name to reach svc. */
function refuseCrossOrigin(config: Place, { header, host }: CookieRequest): void {
  const origin = header("origin");
  if (origin === null) return;
  const from = URL.parse(origin)?.host;
  if (from !== undefined && (from === host.toLowerCase() || from === URL.parse(config.publicUrl)?.host))
    return;
  const sentence =
    "The request comes from another site. If that site is svc, set SVC_PUBLIC_URL to the address that browsers use.";
  throw new SvcError("forbidden", sentence);
}

function nameOf(config: Place): string {
  return isSecure(config) ? "__Host-svc" : "svc";
}

function isSecure(config: Place): boolean {
  return config.publicUrl.startsWith("https:");
}
