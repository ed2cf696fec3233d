import type { Session } from "../../src/contract/session.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { type ScriptedModel, startModel } from "./model.ts";
import { createDatabase, POSTGRES } from "./postgres.ts";
import { Remote } from "./remote.ts";
import { MODEL, runtimeEnvironment } from "./runtime.ts";
import { untilStatus } from "./sessions.ts";

/** The server, a local sandbox and the real agent runtime: only the model is scripted. */
export interface AgentSession extends AsyncDisposable {
  api: Api;
  model: ScriptedModel;
  remote: Remote;
  projectId: string;
  /** `/v1/projects/<id>/sessions`. */
  sessions: string;
  id: string;
  /** Waits until the session runs. */
  runs(): Promise<Session>;
  /** Sends the sandbox a request. */
  runtime(method: string, path: string, body?: unknown): Promise<Answer["body"]>;
}

/** The server, on a Postgres where there is one, with local sandboxes and the real agent runtime. */
export interface AgentServer extends AsyncDisposable {
  api: Api;
  model: ScriptedModel;
  /** The server's options. */
  env: Record<string, string>;
}

export async function startAgentServer(): Promise<AgentServer> {
  const model = await startModel();
  const database = POSTGRES ? await createDatabase() : null;
  // a session names its model itself
  const { SVC_OPENCODE_MODEL, ...variables } = runtimeEnvironment(model);
  const env = {
    ...variables,
    SVC_SANDBOX_PROVIDER: "local",
    ...(database && { DATABASE_URL: database.url }),
  };
  const api = await startApi({ env });
  return {
    api,
    model,
    env,
    async [Symbol.asyncDispose]() {
      await api.stop();
      await model[Symbol.asyncDispose]();
      await database?.drop();
    },
  };
}

/** Starts a session, and does not wait for it. */
export async function startAgentSession({
  secrets = {},
  files = {},
  ...body
}: {
  secrets?: Record<string, string>;
  /** Of its repository. */
  files?: Record<string, string>;
  name?: string;
  initial_prompt?: string;
} = {}): Promise<AgentSession> {
  const server = await startAgentServer();
  const { api, model } = server;
  const remote = new Remote();
  remote.commit("main", { "a.txt": "1\n", ...files });
  const { project_id: projectId } = await api.project(remote.url);
  for (const [name, value] of Object.entries(secrets))
    await api.call("PUT", `/v1/projects/${projectId}/secrets/${name}`, { body: { value } });
  const sessions = `/v1/projects/${projectId}/sessions`;
  const made = await api.call("POST", sessions, { body: { model: MODEL, ...body } });
  const id: string = made.body.session_id;
  const look = async () => (await api.call("GET", `${sessions}/${id}`)).body;
  return {
    api,
    model,
    remote,
    projectId,
    sessions,
    id,
    runs: () => untilStatus(look, ["running"]),
    runtime: async (method, path, asked) =>
      (await api.call(method, `/v1/p/${id}/8000${path}`, asked === undefined ? {} : { body: asked })).body,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      remote.remove();
    },
  };
}
