import { afterAll, beforeAll, expect } from "bun:test";
import type { Agent } from "../../src/contract/agent.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type ScriptedModel, startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { MODEL, RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

let api: Api;
let model: ScriptedModel;
let remote: Remote;
let projectId: string;

beforeAll(async () => {
  if (RUNTIME === null) return;
  model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  api = await startApi({ env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  remote = new Remote();
  remote.commit("main", { [agentFile("reviewer")]: agent("as merged"), [skillFile]: skill("as merged") });
  projectId = (await api.project(remote.url)).project_id;
});
afterAll(async () => {
  await api?.stop();
  remote?.remove();
  await model?.[Symbol.asyncDispose]();
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
      if (/reviewer|planted|style/.test(name) && !native) known[name] = description;
  }
  return known;
}

test("the agents that are listed are those that the runtime has, and it has no others to choose from", async () => {
  const { body } = await api.call("GET", `/v1/projects/${projectId}/agents`);
  const { session_id: id } = await asks("POST", "", { model: MODEL, agent_name: "reviewer" });
  expect(await running(id)).toMatchObject({ status: "running", error: null });
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
  await asks("DELETE", `/${id}`);
});

test("a session from a branch that changes agents and skills has the merged ones; after the merge, the new", async () => {
  const changed = {
    [agentFile("reviewer")]: agent("as changed"),
    [agentFile("planted")]: agent("not merged"),
    [skillFile]: skill("as changed"),
    "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = ".svc/agentrt"\n',
  };
  remote.commit("feature", changed, { from: "main" });
  const { session_id: id } = await asks("POST", "", { base_ref: "feature", model: MODEL });
  expect(await running(id)).toMatchObject({ status: "running", error: null });
  expect(remote.sha(id)).toBe(remote.sha("feature"));
  expect(await knownIn(id)).toEqual({ reviewer: "as merged", style: "as merged" });

  remote.branch("main", "feature");
  expect(await knownIn(id)).toEqual({ reviewer: "as merged", style: "as merged" });
  await asks("POST", `/${id}/restart`, {});
  await untilStatus(() => asks("GET", `/${id}`), ["running", "failed"]);
  expect(await knownIn(id)).toEqual({ reviewer: "as changed", planted: "not merged", style: "as changed" });
});
