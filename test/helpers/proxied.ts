import type http from "node:http";
import { freePort } from "../../scripts/free-port.ts";
import { createOrigin } from "./behaviour-origin.ts";
import { type GatewayBench, type SessionOf, startGateway } from "./gateway.ts";
import { type Sandbox, SERVICE_KEY, startSandbox } from "./sandbox.ts";

/** A server with a session whose sandbox has a real daemon, and an app that listens in it. */
export interface Proxied {
  bench: GatewayBench;
  sandbox: Sandbox;
  session: SessionOf;
  /** The app's port: an origin that returns the requests that it received. */
  port: number;
  stop(): Promise<void>;
}

export async function startProxied(env: Record<string, string> = {}): Promise<Proxied> {
  const [bench, sandbox, port] = await Promise.all([startGateway(env), startSandbox(), freePort()]);
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  const { hostname, port: daemonPort } = new URL(sandbox.url);
  const session = await bench.session(bench.hosted, "running", {
    sessionId: sandbox.sessionId,
    serviceKey: SERVICE_KEY,
    host: hostname,
    port: Number(daemonPort),
  });
  const origin: http.Server = createOrigin().listen(port, "127.0.0.1");
  return {
    bench,
    sandbox,
    session,
    port,
    async stop() {
      origin.closeAllConnections();
      origin.close();
      await sandbox[Symbol.asyncDispose]();
      await bench.stop();
    },
  };
}
