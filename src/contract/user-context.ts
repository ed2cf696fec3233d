import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { parseJson } from "./json.ts";

/** The lifetime of a context: one request, or the setup of a connection. */
export const USER_CONTEXT_LIFE_S = 60;
/** How far the clocks of the API and of a sandbox may be apart. */
const SKEW_S = 5;
/** Longer values are rejected unread. */
const LENGTH_MAX = 4096;

/** A `visitor` of a public app has not signed in: its `user_id` is empty. */
export const USER_ROLES = ["user", "agent", "platform", "visitor"] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** Times are seconds since 1970. */
export interface UserContext {
  user_id: string;
  session_id: string;
  role: UserRole;
  scopes: string[];
  iat: number;
  exp: number;
  /** The only request that it is valid for: its method, and its path from `signedPath`. */
  method: string;
  path: string;
}

/** A longer path is replaced by its hash, to keep the header small. */
const PATH_MAX = 1_000;

/** The path of a request target, without its query. */
export function signedPath(target: string): string {
  const [path = ""] = target.split("?", 1);
  if (path.length <= PATH_MAX) return path;
  return `sha256:${createHash("sha256").update(path).digest("hex")}`;
}

/**
 * The value of `X-Svc-User-Context`, which identifies the caller to the daemon of a sandbox (contract: Sessions, sandboxes, proxy):
 * `base64url(JSON) "." base64url(HMAC-SHA256(first part))`, unpadded; the key is the sandbox service key.
 */
export function signUserContext(key: string, context: UserContext): string {
  const body = Buffer.from(JSON.stringify(context)).toString("base64url");
  return `${body}.${mac(key, body).toString("base64url")}`;
}

/**
 * Verifies the value of the header in constant time, and rejects another encoding of the same bytes.
 * @param now seconds since 1970
 * @returns the context, or null if it is invalid, expired, not yet valid, or of another session
 */
export function verifyUserContext(
  key: string,
  value: string,
  sessionId: string,
  now: number,
): UserContext | null {
  if (key === "" || value.length > LENGTH_MAX) return null;
  const [body, signature, ...rest] = value.split(".");
  if (body === undefined || signature === undefined || rest.length > 0) return null;
  const given = Buffer.from(signature, "base64url");
  const expected = mac(key, body);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  if (given.toString("base64url") !== signature) return null;
  const context = readContext(body);
  if (!context || context.session_id !== sessionId) return null;
  const { iat, exp } = context;
  const isCurrent = iat <= now + SKEW_S && now < exp + SKEW_S && exp - iat <= USER_CONTEXT_LIFE_S;
  return isCurrent ? context : null;
}

function mac(key: string, body: string): Buffer {
  return createHmac("sha256", key).update(body).digest();
}

function readContext(body: string): UserContext | null {
  const value = parseJson(Buffer.from(body, "base64url").toString());
  if (typeof value !== "object" || value === null) return null;
  const field = (name: string): unknown => Reflect.get(value, name);
  const [user_id, session_id, iat, exp, scopes] = ["user_id", "session_id", "iat", "exp", "scopes"].map(
    field,
  );
  const role = USER_ROLES.find((candidate) => candidate === field("role"));
  if (typeof user_id !== "string" || typeof session_id !== "string" || role === undefined) return null;
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) return null;
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === "string")) return null;
  const [method, path] = [field("method"), field("path")];
  if (typeof method !== "string" || typeof path !== "string") return null;
  return { user_id, session_id, role, scopes, iat: Number(iat), exp: Number(exp), method, path };
}
