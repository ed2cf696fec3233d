import type { SandboxSpec } from "../provider.ts";
import { INSIDE, INSIDE_PATH, RUNTIME_WRAP, SHELL } from "./bubblewrap.ts";
import type { Folder } from "./folder.ts";
import type { LaunchOptions } from "./launch.ts";
import { networkEnvironment } from "./network.ts";
import type { Ports } from "./ports.ts";
import { MARK } from "./processes.ts";

/** The environment of the daemon, with paths in the sandbox, or on this machine without isolation. */
export function environmentOf(
  options: Pick<LaunchOptions, "api" | "apiUrl" | "orphanS">,
  spec: Pick<SandboxSpec, "environment">,
  paths: {
    folder: Folder;
    isIsolated: boolean;
    runtime: string | null;
    plugins: string | null;
    volume: string | null;
  },
  mark: string,
  ports: Ports,
): Record<string, string> {
  const { folder, isIsolated, runtime, plugins, volume } = paths;
  return {
    ...(isIsolated ? networkEnvironment(spec, options.apiUrl) : sharedNetwork(options, spec, ports)),
    [MARK]: mark,
    SVC_ORPHAN_SECONDS: String(options.orphanS),
    ...(runtime !== null && { SVC_RUNTIME_BIN: runtime }),
    ...(volume !== null && { SVC_VOLUME: volume }),
    ...(plugins !== null && { SVC_RUNTIME_PLUGINS: plugins }),
    ...(isIsolated ? ISOLATED : notIsolated(folder)),
    SHELL,
    LANG: "C.UTF-8",
  };
}

function sharedNetwork(
  { apiUrl, api }: Pick<LaunchOptions, "api" | "apiUrl">,
  spec: Pick<SandboxSpec, "environment">,
  ports: Ports,
): Record<string, string> {
  return {
    ...spec.environment(apiUrl ?? urlOf(api())),
    SVC_SERVICE_HOST: "127.0.0.1",
    SVC_SERVICE_PORT: String(ports.daemon),
    SVC_RUNTIME_PORT: String(ports.runtime),
  };
}

const ISOLATED = {
  SVC_WORKSPACE: INSIDE.workspace,
  SVC_RUNTIME_HOME: INSIDE.home,
  SVC_RUNTIME_WRAP: JSON.stringify(RUNTIME_WRAP),
  PATH: INSIDE_PATH,
  HOME: INSIDE.home,
  USER: "svc",
  LOGNAME: "svc",
};

/** Without isolation, a sandbox uses the PATH of the server's user. */
function notIsolated(folder: Folder): Record<string, string> {
  return {
    SVC_WORKSPACE: folder.workspace,
    SVC_RUNTIME_HOME: folder.home,
    PATH: [folder.bin, process.env["PATH"] || "/usr/local/bin:/usr/bin:/bin"].join(":"),
    HOME: folder.home,
    TMPDIR: folder.tmp,
  };
}

/** A server that listens on all interfaces is reached by 127.0.0.1. */
function urlOf({ hostname, port }: { hostname: string; port: number }): string {
  if (hostname === "0.0.0.0" || hostname === "::") return `http://127.0.0.1:${port}`;
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
