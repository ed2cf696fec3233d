import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { parseJson } from "../../contract/json.ts";
import type { Deps } from "../../deps.ts";

/** The state of a sign-in at GitHub, in a cookie, which protects the callback against CSRF. */
export interface GithubState {
  /** Must be equal in the callback and in the cookie. */
  state: string;
  /** The code verifier of PKCE (RFC 7636): without it, an intercepted code cannot be used. */
  verifier: string;
  /** The path of svc to open afterwards. */
  next: string;
  /** The token of an invitation's link. */
  invitation: string | null;
}

const PURPOSE = "github sign-in";
/** A sign-in at GitHub with a second factor takes minutes. */
const LIFE_S = 15 * 60;
const NEXT_MAX = 1024;

export function createState(next: string | undefined, invitation: string | undefined): GithubState {
  return {
    state: randomBytes(32).toString("base64url"),
    verifier: randomBytes(32).toString("base64url"),
    next: ownPath(next),
    invitation: invitation ?? null,
  };
}

/** PKCE's `code_challenge`, by its method S256. */
export function challengeOf({ verifier }: GithubState): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

/** The `Set-Cookie` with the state: its claims and their HMAC-SHA256. */
export function writeState(deps: Deps, signIn: GithubState): string {
  const expiresAt = Math.floor(deps.clock().getTime() / 1000) + LIFE_S;
  const claims = [signIn.state, signIn.verifier, signIn.next, signIn.invitation, expiresAt];
  const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return setCookie(deps, `${body}.${deps.keys.mac(PURPOSE, body).toString("base64url")}`, LIFE_S);
}

/** `Set-Cookie` that deletes it. */
export function clearState(deps: Deps): string {
  return setCookie(deps, "", 0);
}

/** @returns null without a cookie, or with one that is forged, expired, or of another sign-in */
export function readState(deps: Deps, cookies: string | null, state: string): GithubState | null {
  const start = `${nameOf(deps)}=`;
  const cookie = cookies
    ?.split(";")
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const [body = "", signature = ""] = cookie?.slice(start.length).split(".") ?? [];
  if (!isEqual(Buffer.from(signature, "base64url"), deps.keys.mac(PURPOSE, body))) return null;
  const claims = parseJson(Buffer.from(body, "base64url").toString());
  const [own, verifier, next, invitation, expiresAt]: unknown[] = Array.isArray(claims) ? claims : [];
  if (typeof own !== "string" || typeof verifier !== "string" || typeof next !== "string") return null;
  if (typeof expiresAt !== "number" || expiresAt * 1000 <= deps.clock().getTime()) return null;
  if (!isEqual(Buffer.from(own), Buffer.from(state))) return null;
  return { state, verifier, next, invitation: typeof invitation === "string" ? invitation : null };
}

/** Rejects everything that a browser would resolve to another site. */
function ownPath(next: string | undefined): string {
  return next !== undefined && next.length <= NEXT_MAX && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(next)
    ? next
    : "/";
}

function setCookie(deps: Deps, value: string, lifeS: number): string {
  const secure = isSecure(deps) ? "; Secure" : "";
  return `${nameOf(deps)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifeS}${secure}`;
}

function nameOf(deps: Deps): string {
  return isSecure(deps) ? "__Host-svc_github" : "svc_github";
}

function isSecure({ config }: Deps): boolean {
  return config.publicUrl.startsWith("https:");
}

function isEqual(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
