import type { SandboxSpec } from "../provider.ts";
import { INSIDE, INSIDE_PATH, RUNTIME_WRAP, SHELL } from "./bubblewrap.ts";
import type { Folder } from "./folder.ts";
import type { LaunchOptions } from "./launch.ts";
import { networkEnvironment } from "./network.ts";
import type { Ports } from "./ports.ts";
import { MARK } from "./processes.ts";

/** Where the sandbox's programs find things: inside walls, or on this machine. */
export function environmentOf(
  options: Pick<LaunchOptions, "api" | "apiUrl" | "orphanS">,
  spec: Pick<SandboxSpec, "environment">,
  place: { folder: Folder; isWalled: boolean; runtime: string | null; plugins: string | null; mark: string },
  ports: Ports,
): Record<string, string> {
  const { folder, isWalled } = place;
  return {
    ...(isWalled ? networkEnvironment(spec, options.apiUrl) : sharedNetwork(options, spec, ports)),
    [MARK]: place.mark,
    SVC_ORPHAN_SECONDS: String(options.orphanS),
    ...(place.runtime !== null && { SVC_RUNTIME_BIN: place.runtime }),
    ...(place.plugins !== null && { SVC_RUNTIME_PLUGINS: place.plugins }),
    ...(isWalled ? WALLED : plain(folder)),
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

const WALLED = {
  SVC_WORKSPACE: INSIDE.workspace,
  SVC_RUNTIME_HOME: INSIDE.home,
  SVC_RUNTIME_WRAP: JSON.stringify(RUNTIME_WRAP),
  PATH: INSIDE_PATH,
  HOME: INSIDE.home,
  USER: "svc",
  LOGNAME: "svc",
};

/** Without walls the tools are those of whoever runs the server, and so is the PATH. */
function plain(folder: Folder): Record<string, string> {
  return {
    SVC_WORKSPACE: folder.workspace,
    SVC_RUNTIME_HOME: folder.home,
    PATH: [folder.bin, process.env["PATH"] || "/usr/local/bin:/usr/bin:/bin"].join(":"),
    HOME: folder.home,
    TMPDIR: folder.tmp,
  };
}

/** An address that the server listens on with every interface is reached by the machine's own. */
function urlOf({ hostname, port }: { hostname: string; port: number }): string {
  if (hostname === "0.0.0.0" || hostname === "::") return `http://127.0.0.1:${port}`;
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
