import { SvcError } from "../../contract/errors.ts";
import { REPO_URL_MAX } from "../../contract/limits.ts";
import type { Credential } from "../git.ts";

/** The parts of a repository's URL that decide how it is reached. */
export interface RemoteUrl {
  scheme: "https" | "http" | "ssh" | "git" | "file";
  /** The canonical form, without credentials. An ssh user name is no credential and stays. */
  url: string;
  /** Host name or address in lower case, IPv6 without brackets; empty for `file`. */
  host: string;
  port: number;
  /** The URL with another host (`git://` only). */
  withHost(host: string): string;
  /** What the URL held between `//` and `@`, for http(s). */
  credential: Credential | null;
}

/**
 * Identifies a repository: git hosts serve it with and without `.git`. On a disk these are two directories, which may be
 * two repositories.
 */
export function repositoryName(url: string): string {
  const path = url.replace(/\/+$/, "");
  return path.startsWith("file:") ? path : path.replace(/\.git$/, "");
}

/**
 * Reads a URL given by a user: https, ssh (`ssh://` and `user@host:path`), git and, where private addresses are
 * allowed, http, file and absolute paths. Nothing else — no remote helpers (`ext::…`), no options.
 * @throws SvcError `invalid_repo_url`; `repo_not_allowed` for a form that the operator has not allowed
 */
export function readRemoteUrl(text: string, allowPrivate: boolean): RemoteUrl {
  if (text === "") throw invalid("it is empty");
  if (text.length > REPO_URL_MAX) throw invalid(`it is longer than ${REPO_URL_MAX} characters`);
  if (UNSAFE.test(text) || !text.isWellFormed())
    throw invalid("it holds a blank, a control character or a backslash");
  if (ENCODED_CONTROL.test(text)) throw invalid("it holds an encoded control character");
  if (text.startsWith("-")) throw invalid("it begins with “-”");
  if (text.startsWith("/")) return readFile(`file://${encodePath(text)}`, allowPrivate);
  if (/^[a-z0-9+.-]*::/i.test(text)) throw invalid("remote helpers are not supported");
  // like git, reads everything before the first `://` as a protocol
  const end = text.indexOf("://");
  if (end === -1) return readScp(text);
  const scheme = text.slice(0, end).toLowerCase();
  if (scheme === "file") return readFile(text, allowPrivate);
  if (scheme === "https" || scheme === "http" || scheme === "ssh" || scheme === "git")
    return readNetwork(text, scheme, allowPrivate);
  throw invalid(`“${scheme}” is not a way to reach a repository; use https or ssh`);
}

const UNSAFE = /[\s\u0000-\u0020\u007f-\u009f\\]/;
const ENCODED_CONTROL = /%(?:[01][0-9a-f]|7f)/i;
const QUERY = /[?#]/;
const DEFAULT_PORTS = { https: 443, http: 80, ssh: 22, git: 9418 } as const;
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?$/;
const HOST_MAX = 253;

function readNetwork(
  text: string,
  scheme: "https" | "http" | "ssh" | "git",
  allowPrivate: boolean,
): RemoteUrl {
  if (scheme === "http" && !allowPrivate)
    throw notAllowed("http:// is not encrypted; use https, if the host has it");
  // parsed as https, since only then host names and unusual forms of addresses become canonical
  const parsed = URL.parse(`https${text.slice(text.indexOf("://"))}`);
  if (!parsed || text.includes(":///")) throw invalid("it cannot be read as a URL");
  if (QUERY.test(text)) throw invalid("it holds “?” or “#”");
  const host = checkHost(parsed.hostname);
  const port = portOf(text, DEFAULT_PORTS[scheme]);
  const path = checkPath(parsed.pathname);
  const user = decode(parsed.username);
  const password = decode(parsed.password);
  if ((scheme === "git" || scheme === "ssh") && password) throw invalid("a password cannot stand in it");
  if (scheme === "git" && user) throw invalid("git:// knows no users");
  if (scheme === "ssh" && user && !USER.test(user)) throw invalid("its user name holds unusual characters");
  const before = `${scheme}://${scheme === "ssh" && user ? `${user}@` : ""}`;
  const after = `${port === DEFAULT_PORTS[scheme] ? "" : `:${port}`}${path}`;
  const withHost = (other: string) => `${before}${bracket(other)}${after}`;
  const credential = scheme !== "ssh" && (user || password) ? { username: user, token: password } : null;
  return { scheme, url: withHost(host), host, port, withHost, credential };
}

/** `user@host:path`, where the path counts from the user's home on the host: not the same as `ssh://host/path`. */
function readScp(text: string): RemoteUrl {
  const parts = /^(?:([^@/:]+)@)?(\[[^\]/@]+\]|[^@/:[\]?#]+):(.+)/.exec(text);
  if (!parts) throw invalid("it is neither a URL nor user@host:path");
  const [, user, name = "", path = ""] = parts;
  if (user && !USER.test(user)) throw invalid("its user name holds unusual characters");
  const parsed = URL.parse(`https://${name}/`);
  if (!parsed) throw invalid("its host cannot be read");
  const host = checkHost(parsed.hostname);
  if (path.startsWith("-")) throw invalid("its path begins with “-”");
  const withHost = (other: string) => `${user ? `${user}@` : ""}${bracket(other)}:${path}`;
  return { scheme: "ssh", url: withHost(host), host, port: DEFAULT_PORTS.ssh, withHost, credential: null };
}

function readFile(text: string, allowPrivate: boolean): RemoteUrl {
  if (!allowPrivate) throw notAllowed("it is a folder on the server's disk");
  const parsed = URL.parse(text);
  if (!parsed || parsed.host || QUERY.test(text)) throw invalid("it is not file:///an/absolute/path");
  const path = checkPath(parsed.pathname);
  const url = `file://${path}`;
  return { scheme: "file", url, host: "", port: 0, withHost: () => url, credential: null };
}

function encodePath(path: string): string {
  return path.replace(/[%?#]/g, encodeURIComponent);
}

function checkHost(hostname: string): string {
  const host = hostname.replace(/[[\]]/g, "");
  if (host.length > HOST_MAX || !(hostname.startsWith("[") || HOST_NAME.test(host)))
    throw invalid("its host is no host name");
  return host.replace(/\.$/, "");
}

function checkPath(path: string): string {
  if (path === "" || path === "/") throw invalid("it names a host but no repository");
  if (path.startsWith("/-")) throw invalid("its path begins with “-”");
  decode(path);
  return path;
}

/** A URL parsed as https loses an explicit 443, which is not the default of other schemes. */
function portOf(text: string, otherwise: number): number {
  const [, digits] = /:(\d+)$/.exec(text.split("/")[2] ?? "") ?? [];
  const port = digits === undefined ? otherwise : Number(digits);
  if (port === 0) throw invalid("its port is out of range");
  return port;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("a “%” in it does not stand for a character");
  }
}

function bracket(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function invalid(why: string): SvcError {
  return new SvcError("invalid_repo_url", `This repository URL cannot be used: ${why}.`);
}

function notAllowed(why: string): SvcError {
  return new SvcError(
    "repo_not_allowed",
    `This repository URL is not allowed on this server: ${why}. To allow it, its operator sets SVC_ALLOW_PRIVATE_REPOS=1.`,
  );
}
