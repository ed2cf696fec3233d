import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { agentFolder } from "../../../src/sandboxes/runtime/agents.ts";
import { type AgentServer, agentServerNeeds, startAgentServer } from "../../helpers/agent-server.ts";
import { DOCKER } from "../../helpers/docker-engine.ts";
import { UPSTREAM_KEY } from "../../helpers/model-bench.ts";
import { needs } from "../../helpers/needs.ts";
import { sample } from "../../helpers/random.ts";
import { standInRuntime } from "../../helpers/stand-in-programs.ts";
import { until } from "../../helpers/until.ts";

// the images contain dist/svc-agent
const [wanted, isHere] = agentServerNeeds(DOCKER);
const test = needs(wanted, isHere);

const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
let server: AgentServer;
beforeAll(async () => {
  if (!isHere) return;
  // of these sessions none runs it: with it, they start from the image of the other files
  server = await startAgentServer("docker", { SVC_RUNTIME_BIN: await standInRuntime(folder) });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  if (!isHere) return;
  const { sessions } = (await server.call("GET", "")).body;
  for (const { session_id } of sessions) await server.call("DELETE", `/${session_id}`);
  await until("no sandbox is left", async () => (await server.call("GET", "")).body.sessions.length === 0);
  await server[Symbol.asyncDispose]();
});

const AGENTS = [
  ["claude-code", "svc/of-anthropic"],
  ["codex", "svc/of-openai"],
  ["opencode-acp", "svc/of-openai"],
] as const;

/** Each run draws one: an image with an agent has 300 MB more. `test/acp` has suites of the agents, without an image. */
test.each(sample(1, AGENTS))(
  "%s, which the server has, works in a container without it in the image",
  async (runtime, model) => {
    const { call, firstTurn, upstream } = server;
    const { body } = await call("POST", "", { runtime, initial_prompt: "Run the command." });
    const turn = await firstTurn(body.session_id);
    expect(turn).toMatchObject({ state: "done", model });
    expect(turn.parts.at(-2).tool.output.trim()).toBe("ran-42");
    expect(turn.parts.at(-1)).toMatchObject({ kind: "text", text: "The command printed: ran-42" });
    expect([...upstream.credentials].every((each) => each.includes(UPSTREAM_KEY))).toBe(true);

    const asked = await server.askedAfterRestart(body.session_id, "What did you do?");
    expect(asked).toContain("Run the command.");
    expect(asked).toContain("ran-42");
    expect(asked).not.toContain("was told a summary");
  },
);

test("an agent that neither the server nor the image has fails the session with what to do", async () => {
  const { api, call } = server;
  rmSync(agentFolder(api.dataDir, "codex"));
  const { session_id } = (await call("POST", "", { runtime: "codex" })).body;
  await until("it fails", async () => (await call("GET", `/${session_id}`)).body.status === "failed");
  const { error } = (await call("GET", `/${session_id}`)).body;
  expect(error).toContain("svc-api runtime install codex");
  expect(error).toContain("RUN npm install --global @zed-industries/codex-acp");
});
