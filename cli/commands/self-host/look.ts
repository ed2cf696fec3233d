import { isRecord } from "../../config.ts";
import { CliError } from "../../failure.ts";
import type { System } from "../../system.ts";
import { API_SERVICE, DATABASE_SERVICE, PROXY_SERVICE } from "./compose.ts";
import { docker, lastLine } from "./engine.ts";
import type { Env } from "./env-file.ts";
import { aliveOf, readServerProcess } from "./server-process.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "./settings.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

export interface ServiceStatus {
  name: string;
  /** `orphaned`: it runs, but what would restart it does not. */
  state: "running" | "starting" | "restarting" | "orphaned" | "stopped";
  /** ISO time of its last start; null if it does not run. */
  since: string | null;
  /** How often it ended since then. */
  restarts: number;
}

type Shell = Pick<System, "env" | "stderr" | "fetch">;

const PROBE_MS = 20_000;
const HEALTH_MS = 3000;

/** The services of the server, as they are now. @throws CliError `self_host` if its engine does not answer */
export const look = (system: Shell, stack: Stack, { mode }: Pick<State, "mode">): Promise<ServiceStatus[]> =>
  mode === "compose" ? lookAtContainers(system, stack) : lookAtProcesses(stack);

export const isRunning = (services: readonly ServiceStatus[]): boolean =>
  services.some(({ state }) => state !== "stopped");

/** The version that the server answers with; null if it does not answer. */
export async function askVersion(system: Shell, env: Env): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(HEALTH_MS);
    const response = await system.fetch(`${localUrl(env)}/v1/health`, { signal, redirect: "error" });
    const body: unknown = response.ok ? await response.json() : null;
    return isRecord(body) && typeof body["version"] === "string" ? body["version"] : null;
  } catch {
    return null;
  }
}

/** The address at which this machine reaches the server, without a trailing slash. */
export function localUrl(env: Env): string {
  const host = env.get("SVC_HOST") || DEFAULT_HOST;
  const port = env.get("SVC_PORT") || `${DEFAULT_PORT}`;
  if ([DEFAULT_HOST, "0.0.0.0", "::", "::1"].includes(host)) return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

async function lookAtProcesses(stack: Stack): Promise<ServiceStatus[]> {
  const record = await readServerProcess(stack);
  const { supervisor, api } = aliveOf(record);
  const isUp = supervisor !== null || api !== null;
  const since = isUp && record !== null ? record.since : null;
  const state = stateOf(supervisor !== null, api !== null, record?.exits ?? 0);
  return [{ name: API_SERVICE, state, since, restarts: isUp ? (record?.exits ?? 0) : 0 }];
}

function stateOf(isSupervised: boolean, hasApi: boolean, exits: number): ServiceStatus["state"] {
  if (isSupervised) return hasApi ? "running" : exits > 0 ? "restarting" : "starting";
  return hasApi ? "orphaned" : "stopped";
}

async function lookAtContainers(system: Shell, { project }: Stack): Promise<ServiceStatus[]> {
  const filter = `label=com.docker.compose.project=${project}`;
  const listed = await docker(system, ["ps", "--all", "--quiet", "--filter", filter], { ms: PROBE_MS });
  if (listed.code !== 0) {
    const reason = listed.code === 127 ? "the command docker is not installed" : lastLine(listed.err);
    throw new CliError("self_host", `The Docker engine of the server does not answer: ${reason}`, {
      hint: "Start the engine, or set DOCKER_HOST as at the server's start.",
    });
  }
  const ids = listed.out.split("\n").filter((id) => id !== "");
  const found = ids.length === 0 ? [] : parse((await docker(system, ["inspect", ...ids])).out);
  // Caddy is there only if TLS was chosen
  const names = [DATABASE_SERVICE, API_SERVICE, PROXY_SERVICE].filter(
    (name) => name !== PROXY_SERVICE || found.some((service) => service.name === name),
  );
  return names.map(
    (name) =>
      found.find((service) => service.name === name) ?? { name, state: "stopped", since: null, restarts: 0 },
  );
}

/** Reads the answer of `docker inspect`. */
function parse(json: string): ServiceStatus[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    return [];
  }
  if (!Array.isArray(list)) return [];
  return list.flatMap((each: unknown) => {
    const name = field(each, "Config", "Labels", "com.docker.compose.service");
    if (typeof name !== "string") return [];
    const state = containerState(field(each, "State", "Status"), field(each, "State", "Health", "Status"));
    const since = field(each, "State", "StartedAt");
    const restarts = field(each, "RestartCount");
    return {
      name,
      state,
      since: state !== "stopped" && typeof since === "string" ? since : null,
      restarts: typeof restarts === "number" ? restarts : 0,
    };
  });
}

function containerState(status: unknown, health: unknown): ServiceStatus["state"] {
  if (status === "restarting") return "restarting";
  if (status === "created") return "starting";
  if (status !== "running") return "stopped";
  return health === "starting" || health === "unhealthy" ? "starting" : "running";
}

function field(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) found = isRecord(found) ? found[name] : undefined;
  return found;
}
