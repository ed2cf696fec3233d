import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../src/contract/session.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { type Answer, caller, makeFolder } from "./api.ts";
import { scratch } from "./gateway.ts";
import { type HaltingServer, startHaltingServer } from "./halting.ts";
import { createDatabase } from "./postgres.ts";
import { type ProcessOf, processesWith } from "./processes.ts";
import { Remote } from "./remote.ts";
import { untilStatus } from "./sessions.ts";
import { standInRuntime } from "./stand-in-programs.ts";

/**
 * A server in a process of its own, on a real Postgres, with real local sandboxes: svc-agent from dist/, and the stand-in
 * of the agent runtime in them. It can be stopped between two steps of a session, killed, and started again.
 */
export interface SessionServer extends Omit<HaltingServer, "pid"> {
  dataDir: string;
  databaseUrl: string;
  /** A user token of the first user, and the path of the project's sessions: for a second server on the database. */
  token: string;
  path: string;
  projectId: string;
  remote: Remote;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  create(body?: Record<string, unknown>): Promise<Session>;
  get(sessionId: string): Promise<Session | null>;
  /** Waits until the session is in one of these states. */
  becomes(sessionId: string, ...statuses: Session["status"][]): Promise<Session>;
  /** The processes of a session's sandbox. */
  processes(sessionId: string): ProcessOf[];
  /** Sessions with folders of sandboxes on the disk. */
  folders(): string[];
  stop(): Promise<void>;
}

export async function startSessionServer(env: Record<string, string> = {}): Promise<SessionServer> {
  const database = await createDatabase();
  const dataDir = makeFolder();
  const tools = scratch();
  const runtime = await standInRuntime(tools.path);
  const remote = new Remote();
  // the stand-in of the runtime writes notes to its working directory
  remote.commit("main", { a: "1\n", ".gitignore": ".log\n" });
  const server = await startHaltingServer({
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_SANDBOX_PROVIDER: "local",
    SVC_RUNTIME_BIN: runtime,
    SVC_LOG_LEVEL: "silent",
    DATABASE_URL: database.url,
    ...env,
  });
  const token =
    (await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "t" })) ?? "";
  const call: SessionServer["call"] = (method, path, body) =>
    caller(server.url(), token)(method, path, body === undefined ? {} : { body });
  const made = await call("POST", "/v1/projects", { name: "p", repo_url: remote.url });
  if (made.status !== 201) throw new Error(`no project: ${made.text}`);
  const sessions = `/v1/projects/${made.body.project_id}/sessions`;
  const ofSession: SessionServer["call"] = (method, path, body) => call(method, sessions + path, body);

  const get: SessionServer["get"] = async (id) => {
    const answer = await ofSession("GET", `/${id}`);
    return answer.status === 200 ? answer.body : null;
  };
  return {
    dataDir,
    databaseUrl: database.url,
    token,
    path: sessions,
    projectId: made.body.project_id,
    remote,
    call: ofSession,
    get,
    async create(body = {}) {
      const answer = await ofSession("POST", "", body);
      if (answer.status !== 201) throw new Error(`no session: ${answer.text}`);
      return answer.body;
    },
    ...server,
    becomes: (id, ...statuses) => untilStatus(() => get(id), statuses),
    processes: (id) => processesWith(id).filter(({ pid }) => pid !== server.pid()),
    folders: () => readdirSync(join(dataDir, "sandboxes")),
    async stop() {
      // a killed server leaves its sandboxes: the next one stops them gracefully
      await server.start();
      await server.end();
      tools[Symbol.dispose]();
      remote.remove();
      rmSync(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}
