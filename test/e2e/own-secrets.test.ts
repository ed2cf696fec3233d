import { afterAll, beforeAll, expect } from "bun:test";
import postgres from "postgres";
import type { Prompt } from "../../src/contract/prompt.ts";
import { type AgentServer, startAgentServer } from "../helpers/agent-session.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { AGENT, MODEL } from "../helpers/runtime.ts";
import { untilStatus } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const [agentName, hasAgent] = AGENT;
const test = needs(`${agentName}, and a real Postgres`, hasAgent && POSTGRES);
const VALUE = "the-login-of-the-holder";

let server: AgentServer;
let remote: Remote;
let sessions: string;
let member: string;

beforeAll(async () => {
  if (!hasAgent || !POSTGRES) return;
  server = await startAgentServer();
  remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
  const { project_id: projectId, account_id: accountId } = await server.api.project(remote.url);
  sessions = `/v1/projects/${projectId}/sessions`;
  member = await server.api.mint("member@example.com");
  const sql = postgres(server.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  await sql`insert into account_members (account_id, user_id, role)
    select ${accountId}, user_id, 'member' from users where email = 'member@example.com'`;
  await sql.end();
  await call("PUT", "/v1/accounts/secrets/LOGIN", { value: VALUE });
  await call("PUT", `/v1/accounts/secrets/LOGIN/projects/${projectId}`);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  remote?.remove();
});

async function call(method: string, path: string, body?: unknown, token = server.api.token) {
  const answer = await server.api.call(method, path, { token, ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

async function start(token = server.api.token): Promise<string> {
  const { session_id } = await call("POST", sessions, { model: MODEL }, token);
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

test("the holder's session has it, another member's has not; neither conversation nor saved work shows it", async () => {
  const [mine, theirs] = await Promise.all([start(), start(member)]);
  expect(await output(mine, "echo $LOGIN; echo ${#LOGIN}")).toBe(`[secret LOGIN]\n${VALUE.length}\n`);
  expect(await output(theirs, "echo ${#LOGIN}")).toBe("0\n");
  await output(mine, "echo $LOGIN > leaked.txt; echo kept > kept.txt");
  await call("POST", `${mine}/stop`, {});
  await untilStatus(() => call("GET", mine), ["stopped"]);
  const saved = JSON.stringify(await call("GET", `${mine}/saved`));
  expect(saved).toContain("kept.txt");
  expect(saved).not.toContain(VALUE);
});

test("its removal reaches the session that runs", async () => {
  const session = await start();
  expect(await output(session, "echo ${#LOGIN}")).toBe(`${VALUE.length}\n`);
  await call("DELETE", "/v1/accounts/secrets/LOGIN");
  await until("the agent has lost it", async () => (await output(session, "echo ${#LOGIN}")) === "0\n");
});
