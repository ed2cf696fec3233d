import type { SandboxSpec } from "../provider.ts";

/** Where a sandbox finds the unix sockets that lead out of it, and the one on which its daemon listens. */
export const INSIDE_SOCKETS = { outlets: "/run/svc/out", daemon: "/run/svc/daemon" } as const;

/** The name of the daemon's socket; that of its folder is as long as a unix socket's path allows. */
export const DAEMON_SOCKET = "s";

/**
 * The ways out of a sandbox: sockets in the data folder, and the ports on the sandbox's loopback that lead to them. The
 * ports are above those that the system chooses for outgoing connections (ip_local_port_range).
 */
export const OUTLETS = {
  api: { socket: "api", port: 61_008 },
  proxy: { socket: "out", port: 61_028 },
  models: { socket: "llm", port: 61_010 },
} as const;
export type Outlet = keyof typeof OUTLETS;

/** svc's own variables that hold the address of the operator's model gateway. */
const MODEL_URLS = ["SVC_LLM_BASE_URL", "SVC_YOLO_URL"];

/**
 * The environment of a sandbox with a network of its own. It reaches svc, and a model gateway without TLS, by ports on its
 * loopback, and everything else by a proxy.
 * @param apiUrl where the operator says that sandboxes reach the API; only one with TLS is used, through the proxy
 */
export function networkEnvironment(
  spec: Pick<SandboxSpec, "environment">,
  apiUrl: string | null,
): Record<string, string> {
  const given = spec.environment(apiUrl?.startsWith("https:") ? apiUrl : inside("api"));
  const models = MODEL_URLS.flatMap((name) => {
    const url = given[name];
    return url?.startsWith("http:") ? [[name, inside("models") + new URL(url).pathname]] : [];
  });
  const proxy = inside("proxy");
  const exceptions = "127.0.0.1,localhost,::1";
  return {
    ...given,
    ...Object.fromEntries(models),
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: exceptions },
    ...{ http_proxy: proxy, https_proxy: proxy, no_proxy: exceptions },
    // node, from version 24 on, uses a proxy only where it is told to
    NODE_USE_ENV_PROXY: "1",
    SVC_SERVICE_HOST: "127.0.0.1",
    SVC_SERVICE_SOCKET: `${INSIDE_SOCKETS.daemon}/${DAEMON_SOCKET}`,
    SVC_RELAYS: JSON.stringify(
      Object.fromEntries(
        Object.values(OUTLETS).map(({ socket, port }) => [port, `${INSIDE_SOCKETS.outlets}/${socket}`]),
      ),
    ),
  };
}

function inside(outlet: Outlet): string {
  return `http://127.0.0.1:${OUTLETS[outlet].port}`;
}
