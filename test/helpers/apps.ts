import { existsSync, realpathSync } from "node:fs";
import type { App, Deployment } from "../../src/contract/app.ts";
import type { ManifestApp } from "../../src/contract/manifest/manifest.ts";
import type { Answer } from "./api.ts";
import { type RawAnswer, rawRequest, sendRaw } from "./raw-http.ts";
import type { Change, Remote } from "./remote.ts";
import { until } from "./until.ts";

/** Whether an isolated sandbox has node, which runs the tests' apps. */
export const NODE_INSIDE = process.platform === "linux" && isInside(Bun.which("node"));

function isInside(path: string | null): boolean {
  return path !== null && existsSync(path) && realpathSync(path).startsWith("/usr/");
}

/**
 * A server that echoes its environment and requests, and acts according to its path. A request with X-Stay keeps its event
 * stream or WebSocket open.
 */
export const APP_PROGRAM = `
const http = require("node:http");
const said = process.env.SAYS ?? require("node:fs").readFileSync("says.txt", "utf8").trim();
let isSick = false;
const server = http.createServer((request, response) => {
  if (request.url === "/env") return response.end(JSON.stringify(process.env));
  if (request.url === "/built") return response.end(require("node:fs").readFileSync("built.txt"));
  if (request.url === "/head") return response.end(JSON.stringify(request.headers));
  if (request.url === "/cwd") return response.end(process.cwd());
  if (request.url === "/health") {
    response.statusCode = isSick ? 503 : (process.env.HEALTH_STATUS ?? 200);
    return response.end();
  }
  if (request.url === "/sicken") isSick = true;
  if (request.url === "/die") process.exit(3);
  if (request.url === "/slow") return void setTimeout(() => response.end(said), 1500);
  if (request.url === "/events") {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write("data: " + said + "\\n\\n");
    return void (request.headers["x-stay"] ?? setTimeout(() => response.end(), 100));
  }
  response.end(said);
});
server.on("upgrade", (request, socket) => {
  socket.on("error", () => {});
  const hash = require("node:crypto").createHash("sha1");
  const key = hash.update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest("base64");
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: " + key + "\\r\\n\\r\\n");
  socket.write(Buffer.concat([Buffer.from([0x81, said.length]), Buffer.from(said)]));
  if (!request.headers["x-stay"]) socket.end();
});
server.keepAliveTimeout = 60000;
console.log("listening for " + said);
server.listen(process.env.PORT, process.env.HOST);
`;

/** An entry as the manifest's reader gives it. */
export function entryOf(change: Partial<ManifestApp> = {}): ManifestApp {
  return {
    slug: "web",
    name: null,
    enabled: true,
    access: "members",
    rootPath: ".",
    build: null,
    run: { command: "exec node server.js", port: 3000 },
    static: null,
    health: null,
    env: {},
    ...change,
  };
}

/** Operations of the apps' tests on a server. */
export interface AppBench {
  remote: Remote;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Commits files to the default branch, with a manifest of these apps and what more is given. */
  merge(files: Record<string, Change>, entries: ManifestApp[], more?: string): Promise<string>;
  get(slug?: string): Promise<{ app: App; deployments: Deployment[] }>;
  /** Waits until the manifest at this commit was handed to what it drives. */
  follows(commit: string): Promise<void>;
  /** Waits until this is so of an app. */
  becomes(
    what: string,
    isSo: (app: App, deployments: Deployment[]) => boolean,
    options?: { slug?: string },
  ): Promise<{ app: App; deployments: Deployment[] }>;
  /** Signs in to an app. @returns the Cookie line, and the app's host */
  signIn(slug?: string): Promise<{ host: string; cookie: string }>;
  /** Sends an app a request as a signed-in user. */
  visit(
    path: string,
    signedIn: { host: string; cookie: string },
    lines?: string[],
    method?: string,
  ): Promise<RawAnswer>;
}

/**
 * @param server of this process or another, on the database, with a project on the remote
 * @param under the apps of a project, or the previews of a change request
 */
export function benchApps(
  server: {
    url(): string;
    projectId: string;
    remote: Remote;
    call(method: string, path: string, body?: unknown): Promise<Answer>;
  },
  under = "/apps",
): AppBench {
  const { remote, projectId } = server;
  const path = `/v1/projects/${projectId}${under}`;
  const call: AppBench["call"] = (method, rest, body) => server.call(method, path + rest, body);
  const get: AppBench["get"] = async (slug = "web") => {
    const answer = await call("GET", `/${slug}`);
    if (answer.status !== 200) throw new Error(`no app: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  return {
    remote,
    call,
    get,
    async merge(files, entries, more = "") {
      const toml = `svc_version = 1\n${entries.map(tomlOf).join("")}${more}`;
      const commit = remote.commit("main", { ...files, "svc.toml": toml });
      // svc is not notified of a push to a git host: an edit triggers a check
      const edited = await server.call("PATCH", `/v1/projects/${projectId}`, { default_branch: "main" });
      if (edited.status !== 200) throw new Error(`not edited: ${edited.text}`);
      return commit;
    },
    follows: (commit) =>
      until(`${commit} is followed`, async () => {
        const { body } = await server.call("GET", `/v1/projects/${projectId}/triggers`);
        return body.commit === commit;
      }),
    async becomes(what, isSo, { slug = "web" } = {}) {
      let last: Awaited<ReturnType<typeof get>> | null = null;
      await until(
        () => `${what}, and not ${JSON.stringify(last, null, 1)}`,
        async () => {
          last = await get(slug).catch(() => null);
          return last !== null && isSo(last.app, last.deployments);
        },
      ).catch(async (error: unknown) => {
        throw new Error(`${error}\n${(await call("GET", `/${slug}/logs`)).text}`);
      });
      if (!last) throw new Error("the app is gone");
      return last;
    },
    async signIn(slug = "web") {
      const made = await call("POST", `/${slug}/preview`);
      const url = new URL(made.body.url);
      const host = url.host;
      const answer = await sendRaw(server.url(), rawRequest(url.pathname + url.search, [`Host: ${host}`]));
      const cookie = /^set-cookie: ([^;]+)/im.exec(answer.text)?.[1] ?? "";
      if (answer.status !== 303 || cookie === "") throw new Error(`not signed in: ${answer.text}`);
      return { host, cookie };
    },
    visit: (target, { host, cookie }, lines = [], method = "GET") =>
      sendRaw(server.url(), rawRequest(target, [`Host: ${host}`, `Cookie: ${cookie}`, ...lines], method)),
  };
}

/** An entry as it is in a manifest. */
export function tomlOf({
  slug,
  enabled,
  access,
  previews,
  rootPath,
  build,
  run,
  static: site,
  health,
  env,
}: ManifestApp): string {
  const lines = [
    "[[apps]]",
    `slug = ${JSON.stringify(slug)}`,
    `enabled = ${enabled}`,
    `access = ${JSON.stringify(access)}`,
    ...(previews ? ["previews = true"] : []),
    `source = { root_path = ${JSON.stringify(rootPath)} }`,
    ...(build === null ? [] : [`build = { command = ${JSON.stringify(build)} }`]),
    ...(run === null ? [] : [`run = ${runTable(run)}`]),
    ...(site === null ? [] : [`static = { dir = ${JSON.stringify(site.dir)} }`]),
    ...(health === null ? [] : [`health = { path = ${JSON.stringify(health.path)} }`]),
    `env = { ${Object.entries(env)
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
      .join(", ")} }`,
  ];
  return `${lines.join("\n")}\n`;
}

function runTable({ command, port, volume }: NonNullable<ManifestApp["run"]>): string {
  const more = volume === undefined ? "" : `, volume = ${JSON.stringify(volume)}`;
  return `{ command = ${JSON.stringify(command)}, port = ${port}${more} }`;
}

/** Whether this deployment of an app is live. */
export function isLive(number: number): (app: App) => boolean {
  return ({ state, live }) => state === "live" && live?.number === number;
}
