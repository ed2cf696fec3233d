import { afterAll, beforeAll, expect } from "bun:test";
import type { Agent } from "../../src/contract/agent.ts";
import { type AgentServer, startAgentServer } from "../helpers/agent-session.ts";
import type { Api } from "../helpers/api.ts";
import { svc } from "../helpers/cli-run.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { AGENT, MODEL } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";

const test = needs(...AGENT);

let server: AgentServer;
let api: Api;
let remote: Remote;
let projectId: string;

beforeAll(async () => {
  if (!AGENT[1]) return;
  server = await startAgentServer();
  ({ api } = server);
  remote = new Remote();
  remote.commit("main", {
    [agentFile("reviewer")]: agent("as merged"),
    [agentFile("gone")]: agent("for a while"),
    [skillFile]: skill("as merged"),
  });
  projectId = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  remote?.remove();
});

const agentFile = (name: string) => `.svc/agentrt/agents/${name}.md`;
const agent = (description: string) => `---\ndescription: ${description}\nmode: primary\n---\n`;
const skillFile = ".svc/agentrt/skills/style/SKILL.md";
const skill = (description: string) => `---\nname: style\ndescription: ${description}\n---\nText.\n`;

const asks = async (method: string, path: string, body?: unknown) =>
  (await api.call(method, `/v1/projects/${projectId}/sessions${path}`, body === undefined ? {} : { body }))
    .body;

const running = (id: string) => untilStatus(() => asks("GET", `/${id}`), ["running", "failed"]);

/** The project's own agents and skills, as the runtime of a session has them: name → description. */
async function knownIn(id: string): Promise<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const path of ["agent", "skill"]) {
    const { body } = await api.call("GET", `/v1/p/${id}/8000/${path}`);
    for (const { name, description, native } of body)
      if (/reviewer|planted|style|gone/.test(name) && !native) known[name] = description;
  }
  return known;
}

test("a session of a branch that changes agents and skills has the merged ones until the merge", async () => {
  const changed = {
    [agentFile("reviewer")]: agent("as changed"),
    [agentFile("planted")]: agent("not merged"),
    [agentFile("gone")]: null,
    [skillFile]: skill("as changed"),
    "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = ".svc/agentrt"\n',
  };
  remote.commit("feature", changed, { from: "main" });
  const { session_id: id } = await asks("POST", "", {
    base_ref: "feature",
    model: MODEL,
    agent_name: "gone",
  });
  expect(await running(id)).toMatchObject({ status: "running", error: null });
  expect(remote.sha(id)).toBe(remote.sha("feature"));
  const merged = { reviewer: "as merged", gone: "for a while", style: "as merged" };
  expect(await knownIn(id)).toEqual(merged);

  // those that are listed are those that the runtime has, and it has no others to choose from
  const { body } = await api.call("GET", `/v1/projects/${projectId}/agents`);
  const known = (await api.call("GET", `/v1/p/${id}/8000/agent`)).body
    .filter(({ hidden }: { hidden?: boolean }) => !hidden)
    .map(({ name, mode, native }: { name: string; mode: string; native: boolean }) => ({
      name,
      mode,
      source: native ? "runtime" : "project",
    }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  const listed = body.agents.map(({ name, mode, source }: Agent) => ({ name, mode, source }));
  expect(listed.toSorted(byName)).toEqual(known.toSorted(byName));

  remote.branch("main", "feature");
  expect(await knownIn(id)).toEqual(merged);
  await asks("POST", `/${id}/restart`, {});
  await running(id);
  expect(await knownIn(id)).toEqual({ reviewer: "as changed", planted: "not merged", style: "as changed" });

  // the session's own agent no longer exists: a prompt to it fails at once
  const env = { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token, SVC_PROJECT_ID: projectId };
  const ran = await svc(["sessions", "chat", id, "--prompt", "x"], { env });
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('The project has no agent "gone".') });
});
