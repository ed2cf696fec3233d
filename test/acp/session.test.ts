import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFolder } from "../../src/sandboxes/runtime/agents.ts";
import { AGENTS_CACHE, agentProgramOf, agentTitle } from "../helpers/acp-sandbox.ts";
import { type AgentUpstream, startAgentUpstream } from "../helpers/agent-upstream.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const NAMES = ["claude-code", "codex"] as const;
const missing = NAMES.find((name) => agentProgramOf(name) === null);
const isBuilt = existsSync("dist/svc-agent");
const wanted = missing ? agentTitle(missing) : isBuilt ? SANDBOXES[0] : "dist/svc-agent (npm run build)";
const isHere = missing === undefined && isBuilt && SANDBOXES[1];
const test = needs(wanted, isHere);

/** A server with local sandboxes, svc's gateway, and a model that asks for one command. */
let api: Api;
let upstream: AgentUpstream;
let remote: Remote;
let project: string;
let folder: string;
beforeAll(async () => {
  if (!isHere) return;
  upstream = startAgentUpstream("echo ran-$((40 + 2)) | tee ran.txt");
  folder = mkdtempSync(join(tmpdir(), "svc-agents-"));
  mkdirSync(join(folder, "data/runtime"), { recursive: true });
  for (const name of NAMES)
    symlinkSync(agentFolder(AGENTS_CACHE, name), agentFolder(join(folder, "data"), name));
  const entry = (format: string, path: string, model: string) =>
    `[[upstreams]]\nid = "${format}"\nformat = "${format}"\nurl = "${upstream.url}${path}"\nkey = "${UPSTREAM_KEY}"\n[[upstreams.models]]\nid = "${model}"\n`;
  writeFileSync(
    join(folder, "models.toml"),
    entry("openai", "/v1", "of-openai") + entry("anthropic", "", "of-anthropic"),
  );
  api = await startApi({
    dataDir: join(folder, "data"),
    env: { SVC_SANDBOX_PROVIDER: "local", SVC_MODELS_FILE: join(folder, "models.toml") },
  });
  remote = new Remote();
  remote.commit("main", {
    "a.txt": "1\n",
    "svc.toml": 'svc_version = 1\n[sandbox]\nruntime = "claude-code"\n',
  });
  project = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  if (!isHere) return;
  await api.stop();
  upstream[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/v1/projects/${project}/sessions${path}`, body === undefined ? {} : { body });

async function answered(id: string): Promise<void> {
  const turns = async () => (await call("GET", `/${id}/conversation`)).body.turns ?? [];
  await until("its first turn is over", async () => {
    const { status, error } = (await call("GET", `/${id}`)).body;
    if (status === "failed") throw new Error(error);
    const [first] = await turns();
    return first !== undefined && first.state !== "working";
  });
}

test.each([
  ["the one that is chosen", { runtime: "codex" }, "codex", "svc/of-openai"],
  ["that of the manifest", {}, "claude-code", "svc/of-anthropic"],
])("the agent of a session is %s", async (_, body, runtime, model) => {
  const { status, body: made } = await call("POST", "", { ...body, initial_prompt: "Run the command." });
  expect(status).toBe(201);
  const id: string = made.session_id;
  await answered(id);
  expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "running", runtime });
  const { turns } = (await call("GET", `/${id}/conversation`)).body;
  expect(turns[0]).toMatchObject({ state: "done", model });
  const { parts } = turns[0];
  expect(parts[0]).toMatchObject({ kind: "prompt", text: "Run the command." });
  expect(parts.at(-2)).toMatchObject({ kind: "tool", state: "done", tool: { name: "bash", error: null } });
  expect(parts.at(-2).tool.output.trim()).toBe("ran-42");
  expect(parts.at(-1)).toMatchObject({ kind: "text", text: "The command printed: ran-42" });
  expect(JSON.stringify(turns)).not.toContain(UPSTREAM_KEY);
  expect([...upstream.credentials].every((each) => each.includes(UPSTREAM_KEY))).toBe(true);

  await call("POST", `/${id}/restart`, { restore: true });
  await until("it runs again", async () => (await call("GET", `/${id}`)).body.status === "running");
  upstream.bodies.length = 0;
  await call("POST", `/${id}/prompt`, { text: "What did you do?" });
  const asked = () => upstream.bodies.map((each) => JSON.stringify(each));
  await until("the model is told what was said", () =>
    asked().some((each) => each.includes("Earlier in this conversation") && each.includes("ran-42")),
  );
  await call("POST", `/${id}/stop`);
});

test("an agent that the server does not have fails the session with what to install", async () => {
  rmSync(agentFolder(api.dataDir, "codex"));
  const { body } = await call("POST", "", { runtime: "codex" });
  await until("it fails", async () => (await call("GET", `/${body.session_id}`)).body.status === "failed");
  const { error } = (await call("GET", `/${body.session_id}`)).body;
  expect(error).toContain("Codex is not installed on the server.");
  expect(error).toContain("svc-api runtime install codex");
});
