import { closeSync, openSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { signedPath, signUserContext } from "../../src/contract/user-context.ts";
import { until } from "../../test/helpers/until.ts";
import { DIST } from "../binaries.ts";
import { freePort } from "../free-port.ts";
import { inNetworkOf } from "./in-sandbox.ts";
import { startNginx } from "./nginx.ts";
import { makeNoiseRepository } from "./noise.ts";
import { start, untilListening } from "./programs.ts";
import { cleanEnvironment, type Server, startServer } from "./server.ts";
import { endSession, startSession } from "./session.ts";
import { buildStandIn } from "./sessions.ts";
import type { Workbench } from "./workbench.ts";

/** A route to the origin: its base URL and its authorization header. */
export interface End {
  url: string;
  /** `Name: value` for a request to this URL; created for each request, since it may expire. */
  header(url: string, method?: string): string;
}

export interface Ends {
  /** nginx with one worker in front of the origin, and a second nginx in front of that. */
  nginx: End;
  nginxTwice: End;
  /** svc-agent, which checks signatures, and svc-api in front of it. */
  daemon: End;
  api: End;
  /** Deletes the session and stops the server. */
  close(): Promise<void>;
  /** A sparse file, and its size. */
  large: string;
  largeBytes: number;
}

const LARGE_BYTES = 1024 ** 3;
const LARGE_BYTES_LEAST = 1024 ** 2;
const SERVICE_KEY = "svc_sb_bench";

/** Starts the origin and all routes to it, on loopback. */
export async function openEnds(bench: Workbench, nginx: string): Promise<Ends> {
  const folder = bench.folder("proxy");
  const large = join(folder, "large");
  closeSync(openSync(large, "w"));
  const largeBytes = bench.amount(LARGE_BYTES, LARGE_BYTES_LEAST);
  truncateSync(large, largeBytes);
  const [origin, streams] = [freePort(), freePort()];
  const [one, two] = [freePort(), freePort()];
  const startOrigin = async (within: string[] = []) => {
    const program = join(import.meta.dir, "proxy-origin.ts");
    start(bench, folder, [...within, process.execPath, program, String(streams)]);
    const places = [
      `location / { default_type text/plain; return 200 ok; }`,
      `location = /large { alias ${large}; }`,
      ...["/sink", "/sse", "/ws"].map((path) => `location = ${path} { ${passTo(streams)} }`),
    ];
    await startOne(bench, nginx, origin, places, streams, within);
  };
  await startOrigin();
  await untilListening(`http://127.0.0.1:${origin}/sink`);
  await startOne(bench, nginx, one, [`location / { ${passTo(origin)} }`], origin);
  await startOne(bench, nginx, two, [`location / { ${passTo(one)} }`], one);
  const { server, session, sessions } = await startApi(bench);
  // a sandbox has its own network namespace, so it needs its own origin
  await startOrigin(inNetworkOf(session));
  const inside = `/v1/p/${session}/${origin}`;
  const answers = () =>
    server.read(`${inside}/sink`).then(
      () => true,
      () => false,
    );
  await until("the origin in the sandbox answers", answers);
  const daemon = await startDaemon(bench);
  const at = (port: number): End => ({ url: `http://127.0.0.1:${port}`, header: () => "X-Nothing: 1" });
  return {
    nginx: at(one),
    nginxTwice: at(two),
    daemon: { url: `${daemon.url}/proxy/${origin}`, header: daemon.header },
    api: {
      url: server.url + inside,
      header: () => `Authorization: Bearer ${server.token}`,
    },
    async close() {
      await endSession(server, sessions, session);
      await server.stop();
    },
    large,
    largeBytes,
  };
}

/** With keep-alive connections and without buffering, as streams require. */
function passTo(port: number): string {
  return [
    `proxy_pass http://behind${port};`,
    "proxy_http_version 1.1;",
    "proxy_set_header Upgrade $http_upgrade;",
    "proxy_set_header Connection $upgrade_or_keep;",
    "proxy_buffering off;",
    "proxy_request_buffering off;",
    "proxy_read_timeout 1h;",
  ].join(" ");
}

/** An nginx with one worker. @param behind the port that it forwards requests to */
async function startOne(
  bench: Workbench,
  nginx: string,
  port: number,
  server: string[],
  behind: number,
  within: string[] = [],
): Promise<void> {
  const http = [
    'map $http_upgrade $upgrade_or_keep { default upgrade; "" ""; }',
    `upstream behind${behind} { server 127.0.0.1:${behind}; keepalive 256; keepalive_requests 1000000000; }`,
  ];
  await startNginx(bench, nginx, { port, workers: 1, http, server, within });
}

/** A session in a local sandbox. */
async function startApi(bench: Workbench): Promise<{ server: Server; session: string; sessions: string }> {
  const runtime = await buildStandIn(bench);
  const server = await startServer(bench, {
    env: { SVC_SANDBOX_PROVIDER: "local", SVC_RUNTIME_BIN: runtime },
  });
  const repository = await makeNoiseRepository(bench, "repository", { files: 1, fileBytes: 100 });
  const sessions = `${(await server.project(repository)).path}/sessions`;
  return { server, session: await startSession(server, sessions), sessions };
}

/** A daemon without a server. It cannot clone, but its ports are open. */
async function startDaemon(bench: Workbench): Promise<End> {
  const session = crypto.randomUUID();
  const folder = bench.folder("daemon");
  const port = freePort();
  start(bench, folder, [join(DIST, "svc-agent")], {
    ...cleanEnvironment(),
    SVC_PROJECT_ID: crypto.randomUUID(),
    SVC_SESSION_ID: session,
    SVC_BRANCH_NAME: session,
    SVC_REPO_URL: "http://127.0.0.1:1/none.git",
    SVC_API_URL: "http://127.0.0.1:1/v1",
    SVC_TOKEN: SERVICE_KEY,
    SVC_SERVICE_HOST: "127.0.0.1",
    SVC_SERVICE_PORT: String(port),
    SVC_RUNTIME_PORT: String(freePort()),
    SVC_WORKSPACE: join(folder, "workspace"),
    SVC_RUNTIME_HOME: join(folder, "home"),
  });
  const url = `http://127.0.0.1:${port}`;
  await untilListening(`${url}/svc/health`);
  return {
    url,
    header(asked, method = "GET") {
      const iat = Math.floor(Date.now() / 1000);
      const context = { user_id: "bench", session_id: session, role: "user" as const, scopes: [], iat };
      const request = { method, path: signedPath(new URL(asked).pathname) };
      return `X-Svc-User-Context: ${signUserContext(SERVICE_KEY, { ...context, ...request, exp: iat + 60 })}`;
    },
  };
}
