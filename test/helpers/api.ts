import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { serve } from "../../src/serve.ts";
import { BUBBLEWRAP, testConfig } from "./isolation.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "./postgres.ts";

/** Whether the suite is to run against the compiled binaries in `dist/`. */
export const AGAINST_BINARIES = process.env["SVC_TEST_DIST"] === "1";

export interface CallOptions {
  token?: string | null;
  body?: unknown;
  /** Sent unchanged instead of `body`. */
  raw?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer's JSON is looked into by the assertions of the tests
export type Answer = { status: number; headers: Headers; body: any; text: string };

export interface Api {
  url: string;
  dataDir: string;
  /** Null: the embedded one, in the data folder. */
  databaseUrl: string | null;
  /** The output of a server that starts without users. */
  firstUserLink: string | null;
  /** A user token of the first user. */
  token: string;
  /** Sends a request as the first user, or with `token` (null: without a credential). */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a user token, like an operator. */
  mint(email: string): Promise<string>;
  /** Creates a project for a repository. */
  project(repoUrl: string, extra?: Record<string, unknown>): Promise<Answer["body"]>;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

interface StartOptions {
  env?: Record<string, string>;
  /** Only in the source tree: replacements of real parts. */
  deps?: Parameters<typeof serve>[1];
  /** A data folder of a server that was stopped with `keepData` has its database, too. */
  dataDir?: string;
}

/** For machines where sandboxes cannot be isolated; for root they must be. */
const canBeOpen = !BUBBLEWRAP[1] && process.getuid?.() !== 0;

/** The Postgres databases that stand for the embedded ones of data folders. */
const databases = new Map<string, TestDatabase>();

/**
 * Starts the API on a data folder and a database of its own: in this process on a real Postgres where there is one, or
 * `dist/svc-api` on its embedded database when the suite runs against it.
 */
export async function startApi({ env = {}, deps, dataDir = makeFolder() }: StartOptions = {}): Promise<Api> {
  const databaseUrl = env["DATABASE_URL"] ?? (await databaseFor(dataDir));
  const settings = {
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    // the cause of an answer with `internal`: it is printed only for a file that fails
    SVC_LOG_LEVEL: "error",
    // if an engine responds
    SVC_SANDBOX_PROVIDER: "local",
    ...(AGAINST_BINARIES && canBeOpen && { SVC_SANDBOX_ISOLATION: "none" }),
    ...env,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  };
  const server = AGAINST_BINARIES
    ? await spawnServer(["dist/svc-api"], settings)
    : await serve(testConfig(settings), deps);
  const mint = async (email: string) => {
    const line = await sendAdminCommand(dataDir, { verb: "token", email, name: "test" });
    if (line === null) throw new Error("the server's admin socket does not answer");
    return line;
  };
  const token = await mint("first@example.com");
  const call = caller(server.url, token);
  return {
    url: server.url,
    dataDir,
    databaseUrl,
    firstUserLink: server.firstUserLink,
    token,
    call,
    mint,
    async project(repoUrl, extra = {}) {
      const made = await call("POST", "/v1/projects", {
        body: { name: "Example", repo_url: repoUrl, ...extra },
      });
      if (made.status !== 201) throw new Error(`no project: ${made.status} ${made.text}`);
      return made.body;
    },
    async stop({ keepData = false } = {}) {
      await server.stop();
      if (keepData) return;
      rmSync(dataDir, { recursive: true, force: true });
      await databases.get(dataDir)?.drop();
      databases.delete(dataDir);
    },
  };
}

/** The database that a server from source has with this data folder, in this process or another; null: the embedded one. */
export async function databaseFor(dataDir: string): Promise<string | null> {
  if (!POSTGRES || AGAINST_BINARIES) return null;
  const database = databases.get(dataDir) ?? (await createDatabase());
  databases.set(dataDir, database);
  return database.url;
}

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "svc-data-"));
}

/** Sends requests to a server with a token. */
export function caller(url: string, token: string): Api["call"] {
  return async (method, path, { token: other = token, body, raw, headers = {}, signal } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(other === null ? {} : { Authorization: `Bearer ${other}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(raw !== undefined ? { body: raw } : body !== undefined ? { body: JSON.stringify(body) } : {}),
      ...(signal && { signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text), text };
  };
}

/** Starts a server in a new process and waits until it listens. */
export async function spawnServer(command: string[], env: Record<string, string>, ipc?: () => void) {
  const child = Bun.spawn(command, {
    env: { ...cleanEnvironment(), ...env },
    ...(ipc && { ipc }),
    stdout: "ignore",
    stderr: "pipe",
  });
  let said = "";
  for await (const chunk of child.stderr) {
    said += Buffer.from(chunk).toString();
    const url = / listens on (\S+)/.exec(said)?.[1];
    const firstUserLink = / Create the first one with this link, .*: (http\S+)/.exec(said)?.[1] ?? null;
    if (url) return { url, child, firstUserLink, stop: () => end(child) };
  }
  throw new Error(`the server did not start: ${said}`);
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGTERM");
  await child.exited;
}

/**
 * The environment of a test's child: none of the developer's own settings. Where the test command has disabled the last
 * JIT tier, a child has only the first: most live for seconds, and a server or opencode starts with a fifth less CPU time.
 */
export function cleanEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(SVC_|DATABASE_URL|GIT_)/.test(name) ? [] : [[name, value]],
  );
  const isBrief = process.env["BUN_JSC_useFTLJIT"] === "0";
  return { ...Object.fromEntries(inherited), ...(isBrief && { BUN_JSC_useDFGJIT: "0" }) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
