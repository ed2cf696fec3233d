import { afterAll, beforeAll, expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import { type AgentServer, startAgentServer } from "../helpers/agent-session.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { AGENT, MODEL } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const test = needs(...AGENT);
const [VALUE, OTHER] = ["the-login-of-the-holder", "removed-while-the-agent-works"];

let server: AgentServer;
let remote: Remote;
let sessions: string;

beforeAll(async () => {
  if (!AGENT[1]) return;
  server = await startAgentServer();
  remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
  const { project_id: projectId } = await server.api.project(remote.url);
  sessions = `/v1/projects/${projectId}/sessions`;
  for (const [name, value] of Object.entries({ LOGIN: VALUE, REMOVED: OTHER })) {
    await call("PUT", `/v1/accounts/secrets/${name}`, { value });
    await call("PUT", `/v1/accounts/secrets/${name}/projects/${projectId}`);
  }
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  remote?.remove();
});

async function call(method: string, path: string, body?: unknown) {
  const answer = await server.api.call(method, path, { ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

async function start(): Promise<string> {
  const { session_id } = await call("POST", sessions, { model: MODEL });
  const session = await untilStatus(() => call("GET", `${sessions}/${session_id}`), ["running", "failed"]);
  expect([session.status, session.error]).toEqual(["running", null]);
  return `${sessions}/${session_id}`;
}

/** The output of a command of the agent, as the conversation has it. */
async function output(session: string, command: string): Promise<string> {
  let { prompt }: { prompt: Prompt } = await call("POST", `${session}/prompt`, { text: `!run ${command}` });
  await until("the prompt has ended", async () => {
    ({ prompt } = await call("GET", `${session}/prompts/${prompt.prompt_id}`));
    return prompt.ended_at !== null;
  });
  const { turns } = await call("GET", `${session}/conversation?limit=200`);
  return turns.at(-1).parts.find(({ tool }: { tool: unknown }) => tool)?.tool.output ?? "";
}

test("the holder's session has it until its removal; neither conversation nor saved work shows it", async () => {
  const session = await start();
  expect(await output(session, "echo $LOGIN; echo ${#LOGIN} ${#REMOVED}")).toBe(
    `[secret LOGIN]\n${VALUE.length} ${OTHER.length}\n`,
  );
  await call("DELETE", "/v1/accounts/secrets/REMOVED");
  await until("the agent has lost it", async () => (await output(session, "echo ${#REMOVED}")) === "0\n");
  await output(session, "echo $LOGIN > leaked.txt; echo kept > kept.txt");
  await call("POST", `${session}/stop`, {});
  await untilStatus(() => call("GET", session), ["stopped"]);
  const saved = JSON.stringify(await call("GET", `${session}/saved`));
  expect(saved).toContain("kept.txt");
  expect(saved).not.toContain(VALUE);
});
