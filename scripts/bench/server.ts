import { join } from "node:path";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { DIST } from "../binaries.ts";
import { defaultDatabase } from "./databases.ts";
import type { Workbench } from "./workbench.ts";

const API = join(DIST, "svc-api");

export interface Server {
  url: string;
  token: string;
  pid: number;
  /** @throws Error for a response that is not a success. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Reads a response to its last byte. @returns the number of bytes */
  read(path: string, headers?: Record<string, string>): Promise<number>;
  /** Creates a project for a repository on this disk; without one, svc hosts the repository. */
  project(repository?: string): Promise<Project>;
  /** Opens a change request for a branch. */
  open(project: Project, branch: string): Promise<OpenedChangeRequest>;
  stop(): Promise<void>;
}

export interface Project {
  id: string;
  /** Of the API. */
  path: string;
}

interface OpenedChangeRequest {
  number: number;
  /** Of the API. */
  path: string;
}

interface Options {
  dataDir?: string;
  env?: Record<string, string>;
}

/** Starts `dist/svc-api` with a new data folder and its embedded database, unless `env` configures another. */
export async function startServer(
  bench: Workbench,
  { dataDir = bench.folder("data"), env = {} }: Options = {},
): Promise<Server> {
  const settings = {
    ...cleanEnvironment(),
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "warn",
    ...("DATABASE_URL" in env ? {} : await defaultDatabase(bench)),
    ...env,
  };
  const child = spawn(settings);
  bench.atEnd(() => child.kill("SIGKILL"));
  const url = await listening(child.stderr);
  await fetch(`${url}/v1/health`).then((response) => response.text());
  const stop = async () => {
    child.kill("SIGTERM");
    await child.exited;
  };
  // as `svc-api admin token` does, which would load the whole program for it
  const token = await sendAdminCommand(dataDir, { verb: "token", email: "bench@example.com", name: "bench" });
  if (token === null) throw new Error("the admin socket of svc-api does not answer");
  return { url, token, pid: child.pid, stop, ...client(url, token) };
}

/** The environment without the settings of the developer. */
export function cleanEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(SVC_|DATABASE_URL|GIT_|GH_)/.test(name) ? [] : [[name, value]],
    ),
  );
}

function client(url: string, token: string): Pick<Server, "call" | "read" | "project" | "open"> {
  const authorization = { Authorization: `Bearer ${token}` };
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...authorization, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    call,
    async read(path, headers = {}) {
      const response = await fetch(url + path, { headers: { ...authorization, ...headers } });
      const { byteLength } = await response.arrayBuffer();
      if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
      return byteLength;
    },
    async project(repository) {
      const body = { name: "Bench", ...(repository && { repo_url: `file://${repository}` }) };
      const { project_id: id } = await call<{ project_id: string }>("POST", "/v1/projects", body);
      return { id, path: `/v1/projects/${id}` };
    },
    async open({ path }, branch) {
      const body = { title: branch, description: "What it does, and why.", head_ref: branch };
      const { number } = await call<{ number: number }>("POST", `${path}/change-requests`, body);
      return { number, path: `${path}/change-requests/${number}` };
    },
  };
}

function spawn(env: Record<string, string>) {
  return Bun.spawn([API], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
}

async function listening(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stderr.getReader();
  let said = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`svc-api did not start: ${said}`);
    said += Buffer.from(value).toString();
    const url = / listens on (\S+)/.exec(said)?.[1];
    if (url === undefined) continue;
    void drain(reader);
    return url;
  }
}

/** Reads the log, so that the server never blocks on a full pipe. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    process.stderr.write(chunk.value);
}
