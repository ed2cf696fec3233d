import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { shellWord } from "../../daemon/this-program.ts";
import { freePort } from "../../scripts/free-port.ts";
import type { DaemonHealth } from "../../src/contract/daemon.ts";
import { readManifest } from "../../src/contract/manifest/manifest.ts";
import { signedPath, signUserContext, type UserContext } from "../../src/contract/user-context.ts";
import { cleanEnvironment } from "./api.ts";
import { type GitHttpServer, serveGit } from "./git-http.ts";
import { createRepository, type TestRepository } from "./git-repo.ts";
import type { Behaviour } from "./opencode.ts";
import { descendantsOf, killAllAndWait } from "./processes.ts";
import { compile } from "./sandbox-bench.ts";
import { until } from "./until.ts";
import { writeWhole } from "./write-whole.ts";

const BUILT = process.env["SVC_TEST_AGENT"];

/**
 * The daemon as a separate program: the compiled one if the test command has built it, which loads in a third of the CPU
 * time of its sources. A sandbox starts it at least twice.
 */
export const AGENT = BUILT ? [BUILT] : [process.execPath, resolve("daemon/main.ts")];

export const SERVICE_KEY = "svc_sb_test0123456789";
export const CLI_TOKEN = "svc_pat_test0123456789";
export const CLONE_TOKEN = "svc_git_secret0123456789";

/** A sandbox without walls: a daemon on loopback, with its API, its repository and a stand-in of the runtime. */
export interface Sandbox extends AsyncDisposable {
  sessionId: string;
  folder: string;
  workspace: string;
  home: string;
  repository: TestRepository;
  git: GitHttpServer;
  api: StandInApi;
  runtimePort: number;
  /** `http://127.0.0.1:<port>` of the daemon, once it listens. */
  url: string;
  child: Bun.Subprocess;
  /** All that the daemon has printed. */
  log(): string;
  /** Changes the runtime's behaviour from now on; its behaviour at the start, from the next start. */
  behave(behaviour: Behaviour): void;
  /** The runtime's notes. */
  notes(): string[];
  health(): Promise<DaemonHealth>;
  /** Waits for a matching health. */
  untilHealth(what: string, isSo: (health: DaemonHealth) => boolean): Promise<DaemonHealth>;
  sign(change?: Partial<UserContext>): string;
  headers(change?: Partial<UserContext>): Record<string, string>;
  /** Sends the daemon a request as a caller. */
  call(method: string, path: string, role?: UserContext["role"], body?: unknown): Promise<Response>;
}

/** Serves `clone-credential` and `agent-config`; `answer` can replace the response. */
export interface StandInApi extends Disposable {
  origin: string;
  requests: { path: string; authorization: string | null }[];
  answer: (request: Request) => Response | null | Promise<Response | null>;
}

export interface SandboxOptions {
  env?: Record<string, string>;
  behaviour?: Behaviour;
  files?: Record<string, string>;
  /** The API's first responses. */
  api?: StandInApi["answer"];
  /** Precedes the daemon's command. */
  before?: string[];
  command?: string[];
  /** The user who owns the folders. */
  owner?: { uid: number; gid: number };
}

export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const folder = mkdtempSync(join(tmpdir(), "svc-sandbox-"));
  chmodSync(folder, 0o755);
  const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
  const sessionId = crypto.randomUUID();
  const repository = await createRepository(join(folder, "git/project.git"));
  await repository.write([{ name: "first", branch: sessionId, files: { "a.txt": "1\n", ...options.files } }]);
  const expected = `Basic ${Buffer.from(`x-access-token:${CLONE_TOKEN}`).toString("base64")}`;
  const git = serveGit(join(folder, "git"), (request) =>
    request.headers.get("authorization") === expected
      ? null
      : new Response("no", { status: 401, headers: { "WWW-Authenticate": "Basic" } }),
  );
  const main = () => mergedAgents(join(folder, "git/project.git"), sessionId);
  const api = standInApi(options.api, main);
  const program = options.env?.["SVC_RUNTIME_USER"]
    ? await programForAnybody(folder)
    : runtimeProgram(folder);
  mkdirSync(home, { recursive: true });
  const standin = join(home, "standin.json");
  const behave = (behaviour: Behaviour) => writeWhole(standin, JSON.stringify(behaviour));
  behave(options.behaviour ?? {});
  writeFileSync(`${standin}.log`, "");
  chmodSync(`${standin}.log`, 0o666);
  if (options.owner) {
    mkdirSync(workspace);
    for (const path of [workspace, home]) chownSync(path, options.owner.uid, options.owner.gid);
  }
  const runtimePort = freePort();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "svc-agent"), `#!/bin/sh\nexec ${AGENT.map(shellWord).join(" ")} "$@"\n`, {
    mode: 0o755,
  });
  const environment = {
    ...leastEnvironment(sessionId),
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    STANDIN: standin,
    SVC_REPO_URL: `${git.origin}/project.git`,
    SVC_API_URL: `${api.origin}/v1`,
    SVC_CLI_TOKEN: CLI_TOKEN,
    SVC_PROJECT_AUTO_CLONE: "1",
    SVC_SERVICE_HOST: "127.0.0.1",
    SVC_SERVICE_PORT: "0",
    SVC_RUNTIME_PORT: String(runtimePort),
    SVC_RUNTIME_BIN: program,
    SVC_WORKSPACE: workspace,
    SVC_RUNTIME_HOME: home,
    ...options.env,
  };
  const child = Bun.spawn([...(options.before ?? []), ...(options.command ?? AGENT)], {
    env: environment,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    void (async () => {
      for await (const bytes of stream) printed += Buffer.from(bytes).toString();
    })();
  }
  const listening = () => / listens on \S+:(\d+)/.exec(printed)?.[1];
  await until("the daemon listens", () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}: ${printed}`);
    return listening() !== undefined;
  });
  const url = `http://127.0.0.1:${listening()}`;
  const sign = (change: Partial<UserContext> = {}) => {
    const now = Math.floor(Date.now() / 1000);
    const context: UserContext = {
      user_id: "u",
      session_id: sessionId,
      role: "user",
      scopes: [],
      iat: now,
      exp: now + 60,
      method: "GET",
      path: "/",
      ...change,
    };
    return signUserContext(SERVICE_KEY, context);
  };
  const headers = (change: Partial<UserContext> = {}) => ({ "X-Svc-User-Context": sign(change) });
  const health = async () => (await fetch(`${url}/svc/health`)).json();

  return {
    sessionId,
    folder,
    workspace,
    home,
    repository,
    git,
    api,
    runtimePort,
    url,
    child,
    log: () => printed,
    behave,
    notes: () => readFileSync(`${standin}.log`, "utf8").split("\n").filter(Boolean),
    health,
    async untilHealth(what, isSo) {
      let last: DaemonHealth = await health();
      const look = async () => {
        last = await health();
        return isSo(last);
      };
      await until(what, look).catch((error) => {
        throw new Error(`${error}; ${JSON.stringify(last)}\n${printed}`);
      });
      return last;
    },
    sign,
    headers,
    call: (method, path, role = "user", body) =>
      fetch(url + path, {
        method,
        headers: headers({ role, method, path: signedPath(path) }),
        redirect: "manual",
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async [Symbol.asyncDispose]() {
      await endAtOnce(child);
      git[Symbol.dispose]();
      api[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Ends a daemon with all that it has started, by a second signal: a stop, for which a test sends one, takes as long as the
 * start, since it saves work and the agent's record.
 */
async function endAtOnce(child: Bun.Subprocess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const started = descendantsOf(child.pid);
  for (const signal of ["SIGTERM", "SIGINT"] as const) child.kill(signal);
  await child.exited;
  if (started.length > 0) await killAllAndWait(started);
}

/** @param agents the tar of the project's agents as they are merged; null: it has none */
export function standInApi(
  answer: StandInApi["answer"] = () => null,
  agents: () => Uint8Array | null = () => null,
): StandInApi {
  const requests: StandInApi["requests"] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const authorization = request.headers.get("authorization");
      const { pathname } = new URL(request.url);
      requests.push({ path: pathname, authorization });
      const granted = grant(authorization);
      const isForAgents = granted.ok && pathname.endsWith("/git/agent-config");
      return (await api.answer(request)) ?? (isForAgents ? tarAnswer(agents()) : granted);
    },
  });
  const api: StandInApi = {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    answer,
    [Symbol.dispose]: () => void server.stop(true),
  };
  return api;
}

function tarAnswer(tar: Uint8Array | null): Response {
  return new Response(tar && Buffer.from(tar), { status: tar === null ? 204 : 200 });
}

/** What svc's API sends: the folder that the manifest names, of the branch `main`, or of this one where there is none. */
function mergedAgents(repository: string, otherwise: string): Uint8Array | null {
  const git = (...args: string[]) => Bun.spawnSync(["git", "-C", repository, ...args]);
  const branch = git("rev-parse", "--quiet", "--verify", "refs/heads/main").success ? "main" : otherwise;
  const { manifest } = readManifest(git("show", `${branch}:svc.toml`).stdout.toString());
  const { success, stdout } = git("archive", "--format=tar", `${branch}:${manifest?.opencode.configDir}`);
  return success ? stdout : null;
}

function grant(authorization: string | null): Response {
  if (![`Bearer ${SERVICE_KEY}`, `Bearer ${CLI_TOKEN}`].includes(authorization ?? ""))
    return Response.json({ error: "no", code: "unauthorized" }, { status: 401 });
  return Response.json({
    repo_url: "http://elsewhere.invalid/not-this-one.git",
    auth: { type: "basic", username: "x-access-token", token: CLONE_TOKEN },
    expires_at: new Date(Date.now() + 900_000).toISOString(),
  });
}

/** The stand-in of the runtime as a separate program: the compiled one, or a new one that runs its source. */
export function runtimeProgram(folder: string): string {
  const built = process.env["SVC_TEST_RUNTIME"];
  if (built) return built;
  const program = join(folder, "opencode");
  const words = [process.execPath, resolve("test/helpers/opencode.ts")].map((word) => `'${word}'`);
  writeFileSync(program, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}

/** The same for another user, who may have no access to the folders of the tests' user. */
async function programForAnybody(folder: string): Promise<string> {
  const program = join(folder, "opencode");
  await compile(resolve("test/helpers/opencode.ts"), program);
  return program;
}

/** The minimal environment of a daemon: an unknown session, and addresses where nothing listens. */
export function leastEnvironment(sessionId: string = crypto.randomUUID()): Record<string, string> {
  return {
    ...cleanEnvironment(),
    SVC_PROJECT_ID: crypto.randomUUID(),
    SVC_SESSION_ID: sessionId,
    SVC_BRANCH_NAME: sessionId,
    SVC_REPO_URL: "http://127.0.0.1:1/x.git",
    SVC_API_URL: "http://127.0.0.1:1/v1",
    SVC_TOKEN: SERVICE_KEY,
  };
}
