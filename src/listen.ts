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
import { methodTable } from "./http/methods.ts";
import { type Listener, listen as listenSplicing } from "./splice/listen.ts";

/** Requests under way at a shutdown get this long; a merge's push may need most of it. */
const DRAIN_MS = 25_000;

export interface Listening {
  /** The port that the system chose when 0 was asked for. */
  port: number;
  /** Takes requests only from sandboxes that save their work. */
  close(): void;
  /** Takes no new requests and lets those under way end. */
  stop(): Promise<void>;
}

/**
 * Listens where the configuration says. Every request comes in by the splice: those for sandboxes go on to them, all
 * others to the API itself, which listens on a unix socket that only the server's user can open.
 * @throws EADDRINUSE when the port is taken
 */
export async function listen(deps: Deps): Promise<Listening> {
  const path = join(deps.config.dataDir, "api.sock");
  const app = createApp(deps);
  const inner = listenPrivately(path, () => serveInside(deps, app, path));
  let endMetrics = async () => {};
  const end = async () => {
    await endMetrics();
    await inner.stop(true);
    rmSync(path, { force: true });
  };
  const { host, port } = deps.config;
  const methods = methodTable(app.routes);
  const front = createFront(deps, { unix: path }, (asked) => gitMethods(asked) ?? methods(asked));
  let listener: Listener;
  try {
    endMetrics = listenForMetrics(deps);
    listener = listenSplicing({ hostname: host, port }, front.decide, front.explain);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    port: listener.port,
    close: front.close,
    async stop() {
      const deadline = Date.now() + DRAIN_MS;
      await listener.stop(DRAIN_MS);
      // what a client has asked for and gone away from is still finished
      await Promise.race([inner.stop(), Bun.sleep(Math.max(deadline - Date.now(), 0))]);
      await end();
    },
  };
}

function serveInside(deps: Deps, app: ReturnType<typeof createApp>, path: string): Bun.Server<undefined> {
  const gateway = createGateway(deps);
  const serveSite = createSiteServer(deps);
  // Bun keeps `idleTimeout` on unix sockets too, but its types do not know it
  const place: object = { unix: path };
  return Bun.serve({
    ...place,
    // A merge or a diff is quiet for as long as git works, which has limits of its own; this is the longest there is.
    idleTimeout: 255,
    // JSON bodies have a bound of their own, far below; pushes too.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch(request, server) {
      // the front alone says this: a client's own does not pass it
      const site = request.headers.get(SITE_HEADER);
      if (site !== null) return serveSite(request, site);
      if (!isGitPath(new URL(request.url).pathname)) return app.fetch(request);
      // a transfer has limits of its own, and is quiet while git works
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
