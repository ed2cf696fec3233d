/** Environment variables of one process. */
export type Variables = Record<string, string | undefined>;

/** What NO_PROXY needs for every loopback address. curl (git) and Bun also match names below `localhost`. */
const LOOPBACK = ["localhost", "127.0.0.1", "127.0.0.0/8", "::1"];

/**
 * Adds the loopback addresses to NO_PROXY, for this process and the programs that it starts: a server on this machine is
 * never reached through a proxy. Changes nothing without a proxy. Call it before the first request.
 * @param env `process.env`
 */
export function exemptLoopback(env: Variables): void {
  if (!VARIABLES.some(([name]) => env[name])) return;
  const given = exemptionsOf(env);
  // curl accepts `*` only alone
  if (given.includes("*")) return;
  const all = [...given, ...LOOPBACK.filter((each) => !given.includes(each))].join(",");
  // programs differ in which of the two they read
  env["no_proxy"] = all;
  env["NO_PROXY"] = all;
}

export interface ProxySetting {
  /** The environment variable that sets it. */
  variable: string;
  /** Its address without credentials. */
  address: string;
}

/** The proxy through which a request to this URL goes; null if it goes to the host itself. */
export function proxyOf(url: string, env: Variables): ProxySetting | null {
  const target = URL.parse(url);
  if (target === null || !/^https?:$/.test(target.protocol)) return null;
  const host = hostOf(url);
  if (isLoopback(host) || exemptionsOf(env).some((entry) => matches(entry, host, target.host))) return null;
  const found = VARIABLES.find(
    ([name, protocol]) => (protocol ?? target.protocol) === target.protocol && env[name],
  );
  return found ? { variable: found[0], address: withoutCredentials(env[found[0]] ?? "") } : null;
}

/** The host of a URL, in lower case, IPv6 without brackets. @throws TypeError if it is not a URL */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/[[\]]/g, "");

/** Whether a host name or address (IPv6 without brackets) is this machine's loopback. */
export const isLoopback = (host: string): boolean =>
  /^(?:(?:.+\.)?localhost\.?|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

/** The variables in the order in which they are tried, each with the protocol that it is for. */
const VARIABLES: readonly (readonly [name: string, protocol: string | null])[] = [
  ["http_proxy", "http:"],
  ["HTTP_PROXY", "http:"],
  ["https_proxy", "https:"],
  ["HTTPS_PROXY", "https:"],
  ["all_proxy", null],
  ["ALL_PROXY", null],
];

function exemptionsOf(env: Variables): string[] {
  const list = env["no_proxy"] || env["NO_PROXY"] || "";
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** A network in an entry (`10.0.0.0/8`) is not compared: only the wording of an error depends on it. */
function matches(entry: string, host: string, hostAndPort: string): boolean {
  const name = entry.toLowerCase().replace(/^\*?\./, "");
  return entry === "*" || name === host || name === hostAndPort.toLowerCase() || host.endsWith(`.${name}`);
}

function withoutCredentials(address: string): string {
  return address.replace(/^([a-z0-9+.-]+:\/\/)?[^/]*@/i, "$1");
}
