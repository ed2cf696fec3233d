import type { Session } from "../../src/contract/session.ts";
import { type Answer, type Api, startApi } from "./api.ts";
import { type ScriptedModel, startModel } from "./model.ts";
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
  /** Asks the sandbox something. */
  runtime(method: string, path: string, body?: unknown): Promise<Answer["body"]>;
}

/** Starts a session, and does not wait for it. */
export async function startAgentSession({
  secrets = {},
  ...body
}: {
  secrets?: Record<string, string>;
  name?: string;
  initial_prompt?: string;
} = {}): Promise<AgentSession> {
  const model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  const api = await startApi({ env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  const remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
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
      await api.stop();
      remote.remove();
      await model[Symbol.asyncDispose]();
    },
  };
}
