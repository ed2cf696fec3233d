import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFolder } from "../../src/sandboxes/runtime/agents.ts";
import { runtimeFolder } from "../../src/sandboxes/runtime/install.ts";
import { AGENTS_CACHE, agentProgramOf, agentTitle } from "./acp-sandbox.ts";
import { type AgentUpstream, startAgentUpstream } from "./agent-upstream.ts";
import { type Api, startApi } from "./api.ts";
import { UPSTREAM_KEY } from "./model-bench.ts";
import { Remote } from "./remote.ts";
import { until } from "./until.ts";

const NAMES = ["claude-code", "codex"] as const;

/** What `startAgentServer` needs, and whether it is here, for `needs`; beside it, what the provider needs. */
export function agentServerNeeds(provider: readonly [string, boolean]): [string, boolean] {
  const missing = NAMES.find((name) => agentProgramOf(name) === null);
  if (missing !== undefined) return [agentTitle(missing), false];
  return existsSync("dist/svc-agent") ? [...provider] : ["dist/svc-agent (npm run build)", false];
}

/** A server with the agents that are installed, svc's gateway, and a model that asks for one command. */
export interface AgentServer extends AsyncDisposable {
  api: Api;
  upstream: AgentUpstream;
  /** Calls a route below the sessions of a project whose manifest chooses Claude Code. */
  call: (method: string, path: string, body?: unknown) => ReturnType<Api["call"]>;
  /** Waits for the end of the first turn of a session, and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: what the server answers is looked into by the assertions of the tests
  firstTurn(id: string): Promise<any>;
  /** Restarts a session, and sends a prompt. @returns what its agent asks the model then */
  askedAfterRestart(id: string, text: string): Promise<string>;
}

/** @param env further settings */
export async function startAgentServer(
  provider: "local" | "docker",
  env: Record<string, string> = {},
): Promise<AgentServer> {
  const upstream = startAgentUpstream("echo ran-$((40 + 2)) | tee ran.txt");
  const folder = mkdtempSync(join(tmpdir(), "svc-agents-"));
  linkAgents(join(folder, "data"));
  const api = await startApi({
    dataDir: join(folder, "data"),
    env: { SVC_SANDBOX_PROVIDER: provider, ...agentSettings(folder, upstream), ...env },
  });
  const remote = new Remote();
  remote.commit("main", {
    "a.txt": "1\n",
    "svc.toml": 'svc_version = 1\n[sandbox]\nruntime = "claude-code"\n',
  });
  const { project_id } = await api.project(remote.url);
  const call: AgentServer["call"] = (method, path, body) =>
    api.call(method, `/v1/projects/${project_id}/sessions${path}`, body === undefined ? {} : { body });
  return {
    api,
    upstream,
    call,
    async firstTurn(id) {
      const turns = async () => (await call("GET", `/${id}/conversation`)).body.turns ?? [];
      let seen = "";
      await until(
        () => `its first turn is over: ${seen}`,
        async () => {
          const { status, step, error } = (await call("GET", `/${id}`)).body;
          if (status === "failed") throw new Error(error);
          const [first] = await turns();
          seen = JSON.stringify({ status, step, first, asked: upstream.bodies.length });
          return first !== undefined && first.state !== "working";
        },
      );
      return (await turns())[0];
    },
    async askedAfterRestart(id, text) {
      await call("POST", `/${id}/restart`, { restore: true });
      await until("it runs again", async () => (await call("GET", `/${id}`)).body.status === "running");
      upstream.bodies.length = 0;
      await call("POST", `/${id}/prompt`, { text });
      // the other is for a title
      const isAnswer = (body: string) => body.includes(text) && !body.includes("<session>");
      const asked = () => upstream.bodies.map((body) => JSON.stringify(body)).find(isAnswer);
      await until("its agent asks the model", () => asked() !== undefined);
      return asked() ?? "";
    },
    async [Symbol.asyncDispose]() {
      await api.stop();
      upstream[Symbol.dispose]();
      remote.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Gives a server the agents that are installed for the tests. */
export function linkAgents(dataDir: string): void {
  mkdirSync(join(dataDir, "runtime"), { recursive: true });
  for (const name of NAMES) symlinkSync(agentFolder(AGENTS_CACHE, name), agentFolder(dataDir, name));
}

/** The settings of a server whose gateway leads to the upstream in each format. @param folder for its files */
export function agentSettings(folder: string, { url }: Pick<AgentUpstream, "url">): Record<string, string> {
  const files = {
    SVC_MODELS_FILE: join(folder, "models.toml"),
    SVC_RUNTIMES_FILE: join(folder, "runtimes.toml"),
  };
  const entry = (format: string, path: string, model: string) =>
    `[[upstreams]]\nid = "${format}"\nformat = "${format}"\nurl = "${url}${path}"\nkey = "${UPSTREAM_KEY}"\n[[upstreams.models]]\nid = "${model}"\n`;
  writeFileSync(
    files.SVC_MODELS_FILE,
    entry("openai", "/v1", "of-openai") + entry("anthropic", "", "of-anthropic"),
  );
  writeFileSync(files.SVC_RUNTIMES_FILE, opencodeByProtocol());
  return files;
}

/** opencode as an agent that an operator describes: it speaks the Agent Client Protocol, too. */
function opencodeByProtocol(): string {
  const options = { baseURL: "{openai_url}", apiKey: "{key}" };
  const provider = { npm: "@ai-sdk/openai-compatible", options, models: { "{model}": {} } };
  const config = { model: "svc/{model}", small_model: "svc/{model}", provider: { svc: provider } };
  return [
    "[[runtimes]]",
    'name = "opencode-acp"',
    'command = ["bin/opencode", "acp"]',
    `folder = ${JSON.stringify(runtimeFolder(AGENTS_CACHE))}`,
    'records = [".local/share/opencode/opencode.db"]',
    "[runtimes.environment]",
    `OPENCODE_CONFIG_CONTENT = ${JSON.stringify(JSON.stringify(config))}`,
    'OPENCODE_DISABLE_MODELS_FETCH = "1"',
    'OPENCODE_DISABLE_AUTOUPDATE = "1"',
    'OPENCODE_DISABLE_LSP_DOWNLOAD = "1"',
    "",
  ].join("\n");
}
