import { afterAll, beforeAll, describe, expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { Session } from "../../src/contract/session.ts";
import type { TurnPart } from "../../src/contract/turn.ts";
import { type AgentSession, startAgentSession } from "../helpers/agent-session.ts";
import { svc } from "../helpers/cli-run.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT } from "../helpers/runtime.ts";
import { svcOnScreen } from "../helpers/screen.ts";
import { until } from "../helpers/until.ts";

const test = needs(...AGENT);

/** The client, the server, a local sandbox and the real agent runtime: only the model is scripted. */
let agent: AgentSession;
let env: Record<string, string>;

beforeAll(async () => {
  if (!AGENT[1]) return;
  agent = await startAgentSession();
  const { api, projectId } = agent;
  env = { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token, SVC_PROJECT_ID: projectId };
  await agent.runs();
});
afterAll(() => agent?.[Symbol.asyncDispose]());

const state = async (): Promise<Session> =>
  (await agent.api.call("GET", `${agent.sessions}/${agent.id}`)).body;
const ask = (prompt: string, ...more: string[]) =>
  svc(["sessions", "chat", agent.id, "--prompt", prompt, ...more], { env });

describe("a single prompt", () => {
  test("prints the answer, the tools and the outcome", async () => {
    const script = [
      "!say I'll look.",
      "!run echo hi",
      "!write b.txt one\\ntwo",
      '!tool edit {"filePath":"a.txt","oldString":"1","newString":"2\\n3"}',
      "!say Done.",
    ];
    expect(await ask(script.join("\n"))).toEqual({
      code: 0,
      signal: null,
      stdout: "I'll look.\nDone.\n",
      stderr: "✓ bash echo hi\n✓ write b.txt +2 -0\n✓ edit a.txt +2 -1\n",
    });
  });

  const rows: [string, string, number, string, string][] = [
    ["a refused key", "!fail 401", 1, "", "failed: It fails as it was told to."],
    // more than once: on a slow machine the first attempts may be over before the command follows
    ["a model that fails for a while", "!fail 500 3\n!say back", 0, "back\n", "Attempt "],
    ["a cut connection", "!say It is\n!drop 1\n!say  done", 0, "done", "The model does not answer"],
    ["a refusal of the model's", "!refuse No.", 1, "No.\n", "failed: "],
  ];
  test.each(rows)("reports the outcome of %s", async (_, prompt, code, stdout, stderr) => {
    const ran = await ask(prompt);
    expect({ code: ran.code, stdout: ran.stdout, stderr: ran.stderr }).toEqual({
      code,
      stdout: expect.stringContaining(stdout),
      stderr: expect.stringContaining(stderr),
    });
  });

  test("ends at a question, which stays open until it is answered; then the run continues", async () => {
    const asked = await ask("!ask Which? | a | b\n!say ok");
    expect(asked).toMatchObject({ code: 1, stdout: "" });
    expect(asked.stderr).toContain("The agent waits for an answer: Which? (a | b)");
    await until("the session waits", async () => (await state()).activity === "waiting");
    expect(await svc(["sessions", "prompt", agent.id, "--wait", "!say next"], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("code: agent_waiting"),
    });
    expect(await svc(["sessions", "answer", agent.id, "a"], { env })).toMatchObject({ code: 0, stderr: "" });
    await until("both prompts are answered, and the agent is idle", async () => {
      const { prompts } = (await agent.api.call("GET", `${agent.sessions}/${agent.id}/prompts`)).body;
      const isOver = ({ state }: Prompt) => state === "answered";
      return prompts.slice(0, 2).every(isOver) && (await state()).activity === "idle";
    });
    const { stdout } = await svc(["sessions", "conversation", agent.id, "--limit", "2"], { env });
    expect(stdout).toMatch(/^ok$/m);
    expect(stdout).toMatch(/^next$/m);
  });

  test("shows a subagent's tools, but not its text", async () => {
    const input = { description: "Look around", prompt: "!run ls\n!say found", subagent_type: "general" };
    const ran = await ask(`!tool task ${JSON.stringify(input)}\n!say after`);
    expect(ran).toMatchObject({ code: 0, stdout: "after\n", stderr: "  ✓ bash ls\n✓ task Look around\n" });
    const { stdout } = await svc(["sessions", "conversation", agent.id, "--limit", "1", "--json=parts"], {
      env,
    });
    const [{ parts }] = JSON.parse(stdout);
    const task = parts.find(({ tool }: TurnPart) => tool?.name === "task");
    const below = parts.filter(({ parent_id }: TurnPart) => parent_id === task.part_id);
    expect(below.map(({ kind, text }: TurnPart) => [kind, text.trim()])).toEqual([
      ["tool", ""],
      ["text", "found"],
    ]);
  });
});

test("on a terminal: streamed text, a question, a permission, an abort", async () => {
  const run = svcOnScreen(["sessions", "chat", agent.id], { env });
  await run.shows(/^> ?$/m);
  run.type("!ask Which colour? | Red | Blue\\\r!say ok\r");
  await run.shows("  2. Blue");
  run.type("2\r");
  await run.shows(/\nok\n(.*\n)?> ?$/);
  run.type("!say word word word\\\r!hang\r");
  await run.shows(/^word word word/m);
  run.type("typed");
  await run.shows("> typed");
  run.type("\x03");
  await run.shows("The agent's run was aborted.");
  expect((await run.lines()).at(-1)).toBe("> typed");
  await until("the model is left alone", () => agent.model.counts.open === 0);
  run.type("\x15\x04");
  expect(await run.exited).toEqual({ code: 0, signal: null });
});

test("a permission request reaches the connected client, and disappears after an abort", async () => {
  const edit = ["sessions", "edit", agent.id, "--mode", "ask"];
  expect(await svc(edit, { env })).toMatchObject({ code: 0 });
  const run = svcOnScreen(["sessions", "chat", agent.id], { env });
  await run.shows(/^> ?$/m);
  run.type("!run echo hi\\\r!say ok\r");
  await run.shows("Allow the agent to use bash?\n  echo hi");
  run.type("y\r");
  await run.shows(/✓ bash echo hi\n\nok\n/);
  await run.shows(/> ?$/);
  run.type("!run echo again\r");
  await run.shows("echo again\ny: yes, once");
  run.type("\x03");
  await run.shows("The agent's run was aborted.");
  await until("nothing is asked any more", async () => (await state()).waiting_for === null);
  run.type("\x04");
  expect(await run.exited).toEqual({ code: 0, signal: null });
});
