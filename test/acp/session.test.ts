import { afterAll, beforeAll, expect } from "bun:test";
import { rmSync } from "node:fs";
import { agentFolder } from "../../src/sandboxes/runtime/agents.ts";
import { type AgentServer, agentServerNeeds, startAgentServer } from "../helpers/agent-server.ts";
import { SANDBOXES } from "../helpers/isolation.ts";
import { UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

// local sandboxes run dist/svc-agent
const [wanted, isHere] = agentServerNeeds(SANDBOXES);
const test = needs(wanted, isHere);

let server: AgentServer;
beforeAll(async () => {
  if (isHere) server = await startAgentServer("local");
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

const AGENTS = [
  ["the one that is chosen", { runtime: "codex" }, "codex", "svc/of-openai"],
  ["one that the operator describes", { runtime: "opencode-acp" }, "opencode-acp", "svc/of-openai"],
  ["that of the manifest", {}, "claude-code", "svc/of-anthropic"],
] as const;
/**
 * Each run draws one. How an agent is chosen, from the request or the manifest, is also tested below, where it is not
 * installed; `turn-kills` and `sandboxes/docker/agents` run drawn agents, too.
 */
const DRAWN = sample(1, AGENTS);

test.each(DRAWN)("the agent of a session is %s", async (_, body, runtime, model) => {
  const { call, upstream, firstTurn } = server;
  const { status, body: made } = await call("POST", "", { ...body, initial_prompt: "Run the command." });
  expect(status).toBe(201);
  const id: string = made.session_id;
  const turn = await firstTurn(id);
  expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "running", runtime });
  expect(turn).toMatchObject({ state: "done", model });
  const { parts } = turn;
  expect(parts[0]).toMatchObject({ kind: "prompt", text: "Run the command." });
  expect(parts.at(-2)).toMatchObject({ kind: "tool", state: "done", tool: { name: "bash", error: null } });
  expect(parts.at(-2).tool.output.trim()).toBe("ran-42");
  expect(parts.at(-1)).toMatchObject({ kind: "text", text: "The command printed: ran-42" });
  expect(JSON.stringify(turn)).not.toContain(UPSTREAM_KEY);
  expect([...upstream.credentials].every((each) => each.includes(UPSTREAM_KEY))).toBe(true);

  // after a restart, the agent continues with its own record of the conversation
  const asked = await server.askedAfterRestart(id, "What did you do?");
  expect(asked).toContain("Run the command.");
  expect(asked).toContain("ran-42");
  expect(asked).not.toContain("was told a summary");
  await call("POST", `/${id}/stop`);
});

test("an agent that the server does not know is refused with those that it has", async () => {
  const { status, body } = await server.call("POST", "", { runtime: "goose" });
  expect([status, body.code]).toEqual([400, "validation_failed"]);
  expect(body.error).toBe(
    'This server has no agent "goose". It has: opencode, claude-code, codex, opencode-acp.',
  );
});

test("a session with an agent that the server does not have is refused with what to install", async () => {
  const { api, call } = server;
  rmSync(agentFolder(api.dataDir, "codex"));
  const { status, body } = await call("POST", "", { runtime: "codex" });
  expect([status, body.code]).toEqual([409, "runtime_not_installed"]);
  expect(body.error).toContain("Codex is not installed on the server.");
  expect(body.error).toContain("svc-api runtime install codex");
});

test("a project whose manifest names an agent that the server does not have fails at the start", async () => {
  const { api, call } = server;
  rmSync(agentFolder(api.dataDir, "claude-code"));
  const { status, body } = await call("POST", "", {});
  expect(status).toBe(201);
  await until("it fails", async () => (await call("GET", `/${body.session_id}`)).body.status === "failed");
  const { error } = (await call("GET", `/${body.session_id}`)).body;
  expect(error).toContain("svc-api runtime install claude-code");
});
