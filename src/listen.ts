import { rmSync } from "node:fs";
import { join } from "node:path";
import { createApp } from "./app.ts";
import { listenPrivately } from "./data-folder.ts";
import type { Deps } from "./deps.ts";
import { createGateway, gitMethods, isGitPath } from "./edge/gateway/gateway.ts";
import { listenForMetrics } from "./edge/metrics-page.ts";
import { SITE_HEADER } from "./edge/proxy/apps.ts";
import { createFront } from "./edge/proxy/front.ts";
import { createSiteServer } from "./features/apps/static/serve.ts";
import { createModelGateway } from "./features/models/gateway.ts";
import { modelMethods } from "./features/models/paths.ts";
import { type MethodsOf, methodTable } from "./http/methods.ts";
import { type Listener, listen as listenSplicing } from "./splice/listen.ts";

/** How long a shutdown waits for requests in progress; the push of a merge can need most of it. */
const DRAIN_MS = 25_000;

export interface Listening {
  /** The actual port, if the configured one is 0. */
  port: number;
  /** Rejects new requests, except from sandboxes that save their work. */
  close(): void;
  /** Accepts no new requests, and waits for those in progress. */
  stop(): Promise<void>;
}

/** Another program listens on the configured address. */
export class AddressInUseError extends Error {
  override readonly name = "AddressInUseError";

  constructor(host: string, port: number) {
    super(
      `Another program already listens on port ${port} of ${host}. Stop it, or set SVC_PORT to another port.`,
    );
  }
}

/**
 * Listens on the configured address. The splice accepts every request and forwards it to a sandbox or to the API, which
 * listens on a unix socket that only the server's user can open.
 * @throws AddressInUseError
 */
export async function listen(deps: Deps): Promise<Listening> {
  const path = join(deps.config.dataDir, "api.sock");
  const app = createApp(deps);
  const models = createModelGateway(deps);
  const inner = listenPrivately(path, () => serveInside(deps, app, path));
  let endMetrics = async () => {};
  const end = async () => {
    await endMetrics();
    await inner.stop(true);
    await models.close();
    rmSync(path, { force: true });
  };
  const { host, port } = deps.config;
  const methods = methodTable(app.routes);
  const methodsOf: MethodsOf = (target) => gitMethods(target) ?? modelMethods(target) ?? methods(target);
  const front = createFront(deps, { unix: path }, methodsOf, models);
  let listener: Listener;
  try {
    endMetrics = listenForMetrics(deps);
    listener = listenSplicing({ hostname: host, port }, front.decide, front.explain);
  } catch (error) {
    await end();
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE")
      throw new AddressInUseError(host, port);
    throw error;
  }
  return {
    port: listener.port,
    close: front.close,
    async stop() {
      const deadline = performance.now() + DRAIN_MS;
      await listener.stop(DRAIN_MS);
      // requests whose clients have disconnected are finished, too
      await Promise.race([inner.stop(), Bun.sleep(Math.max(deadline - performance.now(), 0))]);
      await end();
    },
  };
}

function serveInside(deps: Deps, app: ReturnType<typeof createApp>, path: string): Bun.Server<undefined> {
  const gateway = createGateway(deps);
  const serveSite = createSiteServer(deps);
  // Bun supports `idleTimeout` for unix sockets, but its types do not allow it
  const address: object = { unix: path };
  return Bun.serve({
    ...address,
    // The maximum: a merge or a diff sends nothing while git runs, which has its own time limits.
    idleTimeout: 255,
    // JSON bodies and pushes have their own limits, which are lower.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request, server) {
      // only the front sets this header: it removes a client's
      const site = request.headers.get(SITE_HEADER);
      if (site !== null) return serveSite(request, site);
      const { pathname } = new URL(request.url);
      if (!isGitPath(pathname)) return app.fetch(request);
      // a transfer has its own limits, and sends nothing while git runs
      server.timeout(request, 0);
      return gateway(request);
    },
    development: false,
    error: (error) => {
      deps.log.error({ err: error }, "a request failed outside the application");
      const headers = { "X-Content-Type-Options": "nosniff" };
      const body = { error: "Something went wrong inside svc.", code: "internal" };
      return Response.json(body, { status: 500, headers });
    },
  });
}
