import { withProxy } from "../egress/environment.ts";
import type { SandboxSpec } from "../provider.ts";

/** Folders in a sandbox: of the egress sockets, and of the socket on which its daemon listens. */
export const INSIDE_SOCKETS = { egress: "/run/svc/out", daemon: "/run/svc/daemon" } as const;

/** The name of the daemon's socket: short, since its path is limited (`Folder.link`). */
export const DAEMON_SOCKET = "s";

/**
 * The egress sockets in the data folder, and the ports on a sandbox's loopback that are forwarded to them. The ports are
 * above the ephemeral ports (ip_local_port_range).
 */
export const EGRESS_SOCKETS = {
  api: { socket: "api", port: 61_008 },
  proxy: { socket: "out", port: 61_028 },
} as const;
export type EgressSocket = keyof typeof EGRESS_SOCKETS;

/**
 * The environment of a sandbox with its own network namespace. It reaches svc by a port on its loopback, and
 * everything else through a proxy.
 * @param apiUrl `SVC_SANDBOX_API_URL`; only a URL with TLS is used, through the proxy
 */
export function networkEnvironment(
  spec: Pick<SandboxSpec, "environment">,
  apiUrl: string | null,
): Record<string, string> {
  const given = spec.environment(apiUrl?.startsWith("https:") ? apiUrl : relayUrl("api"));
  return {
    ...withProxy(given, relayUrl("proxy")),
    SVC_SERVICE_HOST: "127.0.0.1",
    SVC_SERVICE_SOCKET: `${INSIDE_SOCKETS.daemon}/${DAEMON_SOCKET}`,
    SVC_RELAYS: JSON.stringify(
      Object.fromEntries(
        Object.values(EGRESS_SOCKETS).map(({ socket, port }) => [port, `${INSIDE_SOCKETS.egress}/${socket}`]),
      ),
    ),
  };
}

function relayUrl(name: EgressSocket): string {
  return `http://127.0.0.1:${EGRESS_SOCKETS[name].port}`;
}
