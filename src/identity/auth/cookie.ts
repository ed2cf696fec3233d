import type { Config } from "../../config.ts";
import { SvcError } from "../../contract/errors.ts";
import { DASHBOARD, DASHBOARD_HEADER } from "../../contract/sign-in.ts";
import { BROWSER_SESSION_PREFIX } from "../../contract/token.ts";
import { BROWSER_SESSION_LIFE_S } from "./browser.ts";

type Place = Pick<Config, "publicUrl">;

/** A request, as far as it matters for its cookie. */
export interface Asking {
  /** A header's value; null when it was not sent. */
  header(name: string): string | null;
  /** The host that the client asked, with its port. */
  host: string;
}

/** The API's own view of a request that came in by the listener, which alone says what host was asked. */
export function askingOf({ headers }: Request): Asking {
  return { header: (name) => headers.get(name), host: headers.get("x-forwarded-host") ?? "" };
}

/**
 * The secret by which a browser's request is believed: only what svc's own pages ask, since they alone can send the header
 * `X-Svc-Dashboard`. A cookie by itself goes along with what any other page makes a browser ask.
 * @returns null without it, and for what is no cookie of ours
 * @throws forbidden for what another site's page asked
 */
export function cookieSecret(deps: { config: Place }, asking: Asking): string | null {
  if (asking.header(DASHBOARD_HEADER) !== DASHBOARD) return null;
  const secret = readCookie(deps.config, asking.header("cookie"));
  if (secret !== null) refuseCrossOrigin(deps.config, asking);
  return secret;
}

/**
 * What signs a browser in or out is asked by svc's own pages too, or another site could sign a person in as somebody else.
 * @throws forbidden
 */
export function requireDashboard(deps: { config: Place }, asking: Asking): void {
  if (asking.header(DASHBOARD_HEADER) !== DASHBOARD) {
    const sentence = `Only svc's own pages can use this route: they send the header ${DASHBOARD_HEADER}. Use a token instead.`;
    throw new SvcError("forbidden", sentence);
  }
  refuseCrossOrigin(deps.config, asking);
}

/** `Set-Cookie` of a browser that is signed in (RFC 6265bis); over TLS its name keeps every other host from setting it. */
export function writeCookie(config: Place, secret: string): string {
  return setCookie(config, secret, BROWSER_SESSION_LIFE_S);
}

/** `Set-Cookie` that takes it away. */
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

/** A reverse proxy may ask svc by another name than the browser asked it, which then is the public one. */
function refuseCrossOrigin(config: Place, { header, host }: Asking): void {
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
