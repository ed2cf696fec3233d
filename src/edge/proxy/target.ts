import { DAEMON_PORT, RUNTIME_PORT } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";

/** The target of a request to a sandbox. */
export interface SandboxTarget {
  /** In lower case. */
  sessionId: string;
  port: number;
  /** Path and query, as forwarded; begins with a slash. */
  path: string;
}

const PREFIX = "/v1/p/";
const PORT = /^[1-9]\d{0,4}$/;
const PORT_MAX = 65_535;

export function isSandboxTarget(target: string): boolean {
  return target.startsWith(PREFIX);
}

/**
 * Parses `/v1/p/<session id>/<port>/<path>` in its canonical form (contract: Sessions, sandboxes, proxy): the target that
 * is authorized here and the one that the daemon reads must be the same.
 * @throws validation_failed, forbidden for the agent runtime's own port
 */
export function readSandboxTarget(target: string): SandboxTarget {
  const [, sessionId = "", port = "", path = ""] =
    /^([^/?]*)\/?([^/?]*)(.*)$/.exec(target.slice(PREFIX.length)) ?? [];
  if (!UUID.test(sessionId)) throw invalid("A session must be given by its id, a UUID.");
  return {
    sessionId: sessionId.toLowerCase(),
    port: readPort(port),
    path: readPath(path.startsWith("/") ? path : `/${path}`),
  };
}

/** @throws validation_failed, forbidden for the agent runtime's own port */
export function readPort(text: string): number {
  const port = Number(text);
  if (!PORT.test(text) || port > PORT_MAX) throw invalid(`A port must be a number from 1 to ${PORT_MAX}.`);
  if (port === RUNTIME_PORT) {
    const sentence = `The agent runtime's port is closed. Use the daemon's port, ${DAEMON_PORT}.`;
    throw new SvcError("forbidden", sentence);
  }
  return port;
}

/**
 * Rejects dot segments: clients resolve them, so one that arrives is an attempt to make two servers disagree.
 * @param path with its query
 * @throws validation_failed
 */
export function readPath(path: string): string {
  const query = path.indexOf("?");
  const plain = query < 0 ? path : path.slice(0, query);
  if (/\/(?:\.|%2e){1,2}(?=\/|$)/i.test(plain)) throw invalid("A path must not have dot segments.");
  if (plain.includes("\\") || path.includes("#"))
    throw invalid("A path must not have a backslash or a fragment.");
  return path;
}

/** The daemon's routes for svc only, except to read (contract: Sessions, sandboxes, proxy). */
const PLATFORM = /^\/svc(?:\/|$)/;

/**
 * The target of the request to the daemon: the path itself for the daemon's own port, and `/proxy/<port>/…` for any other.
 * The daemon validates its own paths again, and protects the runtime's closed routes.
 * @throws forbidden for routes that only svc may use
 */
export function daemonTarget(method: string, { port, path }: SandboxTarget): string {
  if (port !== DAEMON_PORT) return `/proxy/${port}${path}`;
  const [plain = ""] = path.split("?", 1);
  if (PLATFORM.test(plain) && method !== "GET" && method !== "HEAD") {
    throw new SvcError("forbidden", "Only svc itself can send this request to a sandbox.");
  }
  return path;
}

function invalid(sentence: string): SvcError {
  return new SvcError("validation_failed", sentence);
}
