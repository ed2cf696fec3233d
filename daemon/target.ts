/** The destination of a request, parsed from its target. */
export type Target =
  /** A path of the daemon itself. */
  | { kind: "svc"; path: string }
  /** A port of the sandbox, and a path there. The query has no question mark; null: none. */
  | { kind: "port"; port: number; path: string; query: string | null }
  | { kind: "runtime"; path: string; query: string | null }
  | { kind: "invalid"; message: string };

const PORT = /^[1-9][0-9]{0,4}$/;
/** The first segments of the daemon's own paths. */
const OWN: ReadonlySet<string> = new Set(["svc", "proxy"]);
const NOT_CANONICAL =
  "The path is not canonical: it must not contain dot segments, a double slash at the start, or encoded slashes and backslashes before the part that is forwarded.";

/**
 * Parses a request's target. A path that is not canonical is refused, because the server before the daemon and the
 * program behind it may interpret it differently.
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

/** Routes of the runtime that chat clients must not use: for credentials, settings and the program itself. */
const PRIVATE = /^\/(?:config|global\/config|auth|global\/upgrade|global\/dispose|tui)(?:\/|$)/;

/** Whether a path of the runtime is one of those, in any encoding. */
export function isPrivate(path: string): boolean {
  return PRIVATE.test(plain(path).replace(/\/{2,}/g, "/"));
}

/** Whether a request to the runtime starts a run. */
export function isPrompt(method: string, path: string): boolean {
  return method === "POST" && /^\/session\/[^/]+\/(?:prompt_async|message|command|shell)\/?$/.test(path);
}

/** Whether a request to the runtime aborts a run. */
export function isAbort(method: string, path: string): boolean {
  return method === "POST" && /^\/session\/[^/]+\/abort\/?$/.test(path);
}

/**
 * The target to forward, without `auth_token`, a parameter by which the runtime also authenticates requests.
 * @param isOurs whether a value of the parameter is removed: an app may have a parameter of that name
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
  // without these characters there is no dot in any encoding
  if (!/[.%\\]/.test(path)) return false;
  return plain(path)
    .split("/")
    .some((segment) => segment === "." || segment === "..");
}

/** Whether a segment contains a backslash or an encoded slash, which other parsers may treat as a slash. */
function hasHiddenSlash(segment: string): boolean {
  return /\\|%(?:25)*(?:2f|5c)/i.test(segment);
}

/** A path as the most lenient parser would read it. */
function plain(path: string): string {
  if (!/[%\\A-Z]/.test(path)) return path;
  let text = path;
  for (let round = 0; round < DECODED_TIMES; round++) text = decode(text);
  return text.replaceAll("\\", "/").toLowerCase();
}

/** Parsers decode once, and chains of them twice. */
const DECODED_TIMES = 3;

/** Decodes each `%xx`, and never fails. */
function decode(text: string): string {
  return text.includes("%")
    ? text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
}

function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
