import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { field, parseJson, textField } from "../../contract/json.ts";

/** Where a Docker engine, or Podman, listens. */
export interface Endpoint {
  /** `unix:///…`, or what DOCKER_HOST is. */
  url: string;
  /** The path of its socket on this machine; null: DOCKER_HOST decides. */
  socket: string | null;
  /** What named it, as in `the context colima`. */
  source: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SOCKET = "/var/run/docker.sock";
/** Docker's files, which are a few lines long. */
const FILE_MAX_BYTES = 1024 * 1024;

/**
 * Finds the engine: DOCKER_HOST, or the current context of `docker`, or the first of the usual sockets that this user has
 * access to. Whether an engine answers there does not matter, so that a restart of an engine does not lead to another one.
 */
export function findEndpoint(env: Environment, home: string): Endpoint {
  const host = env["DOCKER_HOST"];
  if (host) return { url: host, socket: null, source: "DOCKER_HOST" };
  const found = contextEndpoint(env, home);
  if (found !== null) return found;
  const usual = usualSockets(env, home);
  const socket = usual.find(isAccessible) ?? usual.find(isSocket) ?? DEFAULT_SOCKET;
  return { url: `unix://${socket}`, socket, source: "its usual socket" };
}

/** Whether there is anything at the endpoint. */
export function isThere({ socket }: Endpoint): boolean {
  return socket === null || isSocket(socket);
}

/** The sockets of engines, in the order in which they are preferred (docs/docker.md). */
function usualSockets(env: Environment, home: string): string[] {
  const runtimeDir = env["XDG_RUNTIME_DIR"];
  const inRuntimeDir = (name: string) => (runtimeDir?.startsWith("/") ? [join(runtimeDir, name)] : []);
  return [
    DEFAULT_SOCKET,
    ...inRuntimeDir("docker.sock"),
    join(home, ".docker/run/docker.sock"),
    join(home, ".colima/default/docker.sock"),
    join(home, ".orbstack/run/docker.sock"),
    ...inRuntimeDir("podman/podman.sock"),
    "/run/podman/podman.sock",
  ];
}

/** Of the current context; null if there is none, or if it names an engine on another machine. */
function contextEndpoint(env: Environment, home: string): Endpoint | null {
  const folder = env["DOCKER_CONFIG"] || join(home, ".docker");
  const name = env["DOCKER_CONTEXT"] || textField(readJson(join(folder, "config.json")), "currentContext");
  if (name === "" || name === "default") return null;
  const id = new Bun.CryptoHasher("sha256").update(name).digest("hex");
  const meta = readJson(join(folder, "contexts/meta", id, "meta.json"));
  const url = textField(field(field(meta, "Endpoints"), "docker"), "Host");
  const socket = /^unix:\/\/(\/.+)$/.exec(url)?.[1];
  return socket === undefined ? null : { url, socket, source: `the context ${name}` };
}

function readJson(path: string): unknown {
  try {
    return statSync(path).size > FILE_MAX_BYTES ? null : parseJson(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function isAccessible(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return isSocket(path);
  } catch {
    return false;
  }
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}
