/** Where a request wants to go, read from its target in one canonical form. */
export type Target =
  /** One of the daemon's own paths, as it stands. */
  | { kind: "svc"; path: string }
  /** A port of the sandbox, and what is asked of it. The query has no question mark; null: there is none. */
  | { kind: "port"; port: number; path: string; query: string | null }
  | { kind: "runtime"; path: string; query: string | null }
  | { kind: "invalid"; message: string };

const PORT = /^[1-9][0-9]{0,4}$/;
/** The daemon's own first segments. */
const OWN: ReadonlySet<string> = new Set(["svc", "proxy"]);
const NOT_CANONICAL =
  "The path is not in its canonical form: it must not hold dot segments, doubled slashes at its beginning, or encoded slashes and backslashes before the part that is passed on.";

/**
 * Reads a request's target. Whoever stands before the daemon and whoever stands behind it may read an odd spelling in
 * another way, so such a target is not passed on.
 * @param target begins with `/`, visible ASCII only
 */
export function readTarget(target: string): Target {
  const [path = "", query = null] = splitOnce(target, "?");
  if (!path.startsWith("/") || path.startsWith("//") || path.includes("#") || hasDotSegment(path))
    return { kind: "invalid", message: NOT_CANONICAL };
  const [first = "", second = ""] = path.slice(1).split("/");
  if (hasHiddenSlash(first) || (OWN.has(plain(first)) && !OWN.has(first)))
    return { kind: "invalid", message: NOT_CANONICAL };
  if (first === "svc") return { kind: "svc", path };
  if (first !== "proxy") return { kind: "runtime", path, query };
  if (hasHiddenSlash(second)) return { kind: "invalid", message: NOT_CANONICAL };
  if (!PORT.test(second) || Number(second) > 65_535)
    return { kind: "invalid", message: "The path must be /proxy/{port}/..., with a port from 1 to 65535." };
  return { kind: "port", port: Number(second), path: path.slice(`/proxy/${second}`.length) || "/", query };
}

/** Routes of the runtime that show or change what is not a chat client's: credentials, settings, the program itself. */
const PRIVATE = /^\/(?:config|global\/config|auth|global\/upgrade|global\/dispose|tui)(?:\/|$)/;

/** Whether a path of the runtime is one of those, however it is spelt. */
export function isPrivate(path: string): boolean {
  return PRIVATE.test(plain(path).replace(/\/{2,}/g, "/"));
}

/** Whether a path of the runtime begins a run. */
export function isPrompt(method: string, path: string): boolean {
  return method === "POST" && /^\/session\/[^/]+\/(?:prompt_async|message|command|shell)\/?$/.test(path);
}

/** Whether a path of the runtime aborts one. */
export function isAbort(method: string, path: string): boolean {
  return method === "POST" && /^\/session\/[^/]+\/abort\/?$/.test(path);
}

/**
 * The target that is passed on: without `auth_token`, by which the runtime also lets in, and which has no place behind
 * the daemon.
 * @param isOurs whether a value of it is to be taken out: an app may have a parameter of that name
 */
export function targetOf(
  { path, query }: { path: string; query: string | null },
  isOurs: (value: string) => boolean,
): string {
  if (query === null) return path;
  const pairs = query.split("&");
  const kept = pairs.filter((pair) => {
    const [name = "", value = ""] = splitOnce(pair, "=");
    return decode(name) !== "auth_token" || !isOurs(decode(value));
  });
  return kept.length === 0 ? path : `${path}?${kept.join("&")}`;
}

function hasDotSegment(path: string): boolean {
  // what has none of these has no dot in any spelling
  if (!/[.%\\]/.test(path)) return false;
  return plain(path)
    .split("/")
    .some((segment) => segment === "." || segment === "..");
}

/** A slash or backslash that is none to us, and may be one to others. */
function hasHiddenSlash(segment: string): boolean {
  return /\\|%(?:25)*(?:2f|5c)/i.test(segment);
}

/** How the most generous reader would read a path. */
function plain(path: string): string {
  if (!/[%\\A-Z]/.test(path)) return path;
  let text = path;
  for (let round = 0; round < DECODED_TIMES; round++) text = decode(text);
  return text.replaceAll("\\", "/").toLowerCase();
}

/** Readers decode once, careless chains of them twice. */
const DECODED_TIMES = 3;

/** Each `%xx` as its character, whatever is between them. */
function decode(text: string): string {
  return text.includes("%")
    ? text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
