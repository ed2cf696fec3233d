import { afterAll, beforeAll, describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentChoice } from "../../src/contract/daemon.ts";
import type { AgentName } from "../../src/sandboxes/runtime/agents.ts";
import { type AcpSandbox, acpSandbox, agentProgramOf, agentTitle, textOf } from "../helpers/acp-sandbox.ts";
import { outcomeOf } from "../helpers/agent-sandbox.ts";
import { type AgentUpstream, type Script, startAgentUpstream } from "../helpers/agent-upstream.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** The modes in which an agent asks before a command: each run draws one. */
const ASKING = sample(1, ["ask", "auto-edit"] as const);
const CHOICE: AgentChoice = { model: null, agent: null, mode: "full", effort: null };

async function startAgent(
  name: AgentName,
  program: string | null,
  { url }: AgentUpstream,
  env: Record<string, string>,
): Promise<AcpSandbox> {
  const sandbox = await startSandbox({
    env: {
      SVC_RUNTIME_NAME: name,
      SVC_RUNTIME_BIN: program ?? "",
      SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
      SVC_LLM_BASE_URL: `${url}/v1/llm/openai/v1`,
      SVC_LLM_API_KEY: "the-key-of-this-start",
      SVC_LLM_MODEL: "scripted",
      ...env,
    },
  });
  await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
  return acpSandbox(sandbox, sandbox.home);
}

/** Waits until the agent asks, or has ended its answer. @returns null: it has not asked */
async function nextRequest(acp: AcpSandbox): Promise<{ id: string; permission: string } | null> {
  let asked: { id: string; permission: string } | null = null;
  await until("it asks, or is over", async () => {
    asked = (await (await acp.sandbox.call("GET", "/permission")).json())[0] ?? null;
    return asked !== null || (await acp.answer()).info.time.completed !== undefined;
  });
  return asked;
}

const isOver = (acp: AcpSandbox) =>
  until("it is over", async () => (await acp.answer()).info.time.completed !== undefined);

describe.each(["claude-code", "codex"] as const)("%s, in the place of the runtime", (name) => {
  const program = agentProgramOf(name);
  const test = needs(agentTitle(name), program !== null);

  /** One conversation for all tests: it is started in the mode of the first. */
  let acp: AcpSandbox;
  let upstream: AgentUpstream;
  beforeAll(async () => {
    if (program === null) return;
    upstream = startAgentUpstream(async (results, body) => nextStep(results, body));
    acp = await startAgent(name, program, upstream, { SVC_PERMISSION_MODE: ASKING[0] ?? "ask" });
  });
  afterAll(async () => {
    await acp?.[Symbol.asyncDispose]();
    upstream?.[Symbol.dispose]();
  });

  /** What the model does first in the next turn; null: it only answers. */
  let first: ReturnType<Script> | null = null;
  /** Results of tools in the conversation, now and before this turn. */
  let [results, before] = [0, 0];

  function nextStep(now: number, body: string): ReturnType<Script> {
    results = Math.max(results, now);
    if (first !== null && now === before) return first;
    return { text: `The command printed: ${body.match(/ran-[0-9]+/g)?.at(-1)}` };
  }

  /** Sets the mode, and what the model does first. */
  async function prepare(mode: AgentChoice["mode"], does: typeof first): Promise<void> {
    const chosen = await acp.sandbox.call("POST", "/svc/choice", "platform", { ...CHOICE, mode });
    expect(chosen.status).toBe(200);
    [first, before] = [does, results];
    upstream.bodies.length = 0;
  }

  const made = (file: string) => existsSync(join(acp.sandbox.workspace, file));
  const allow = (id: string) => acp.json("POST", `/permission/${id}/reply`, { reply: "once" });

  test.each(ASKING)("in the mode %s, it asks before it runs a command", async (mode) => {
    const file = `asked-in-${mode}.txt`;
    await prepare(mode, { command: `sh -c "touch ${file}" && echo ran-$((40 + 1))` });
    await acp.begin("Run the command that I told you about.");
    const asked = await nextRequest(acp);
    expect(asked?.permission).toBe("bash");
    expect(made(file)).toBe(false);
    await allow(asked?.id ?? "");
    await isOver(acp);
    expect(made(file)).toBe(true);
  });

  // svc itself answers for an edit, and must not in the mode ask: both are in each run
  if (name === "codex")
    test.each([
      ["ask", "edit"],
      ["auto-edit", null],
    ] as const)("in the mode %s, it changes a file after a question: %p", async (mode, permission) => {
      const file = `made-in-${mode}.txt`;
      await prepare(mode, {
        command: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch\nEOF\n`,
      });
      await acp.begin("Change the file.");
      const asked = await nextRequest(acp);
      expect(asked?.permission ?? null).toBe(permission);
      if (asked) await allow(asked.id);
      await isOver(acp);
      expect(made(file)).toBe(true);
    });

  if (name === "claude-code")
    test("it asks a person, who chooses", async () => {
      const question = {
        ...{ question: "Which database?", header: "Database", multiSelect: false },
        options: ["Postgres", "SQLite"].map((label) => ({ label, description: `It is ${label}` })),
      };
      await prepare("full", { tool: "AskUserQuestion", input: { questions: [question] } });
      await acp.begin("Choose a database.");
      let asked: { id: string; questions: object[] } | undefined;
      await until("it asks", async () => {
        [asked] = await (await acp.sandbox.call("GET", "/question")).json();
        return asked !== undefined;
      });
      expect(asked?.questions).toEqual([
        { question: "Which database?", options: question.options, multiple: false, custom: true },
      ]);
      expect(await acp.json("POST", `/question/${asked?.id}/reply`, { answers: [["SQLite"]] })).toBe(true);
      await isOver(acp);
      expect(JSON.stringify(upstream.bodies)).toContain('\\"Which database?\\"=\\"SQLite\\"');
    });

  test("in the mode full, it runs a command that its model asks for, and answers, offline", async () => {
    await prepare("full", { command: "echo ran-$((40 + 2))" });
    expect(await acp.send("The word is ochre. Run the command.")).toMatchObject({ state: "answered" });
    const answer = await acp.answer();
    expect(textOf(answer)).toContain("The command printed: ran-42");
    const tool = answer.parts.find(({ type }) => type === "tool");
    expect(tool).toMatchObject({ tool: "bash", state: { status: "completed" } });
    expect(tool?.state?.output).toContain("ran-42");
    expect(answer.info).toMatchObject({ finish: "stop", providerID: "svc", modelID: "scripted" });
    expect([...upstream.credentials].filter((each) => !each.includes("the-key-of-this-start"))).toEqual([]);
    expect(JSON.stringify(upstream.bodies)).toContain("You work in an svc session");
  });

  test("answers with another model from the next prompt on, and knows what was said", async () => {
    await prepare("full", null);
    const choice = { ...CHOICE, model: "svc/another", effort: "high" };
    const sent = await outcomeOf(acp.sandbox, "Which word?", undefined, choice);
    expect(sent).toMatchObject({ state: "answered", error: null });
    const bodies = upstream.bodies.map((body) => JSON.stringify(body));
    const asked = bodies.find((body) => body.includes("Which word?") && body.includes("ochre")) ?? "";
    expect(asked).toContain('"model":"another"');
    expect(asked).toContain("The word is ochre.");
    expect(asked).toContain('"effort":"high"');
    expect((await acp.answer()).info).toMatchObject({ providerID: "svc", modelID: "another" });
  });

  test("goes on with its own conversation after the runtime was killed", async () => {
    const { runtime_pid: pid } = await acp.sandbox.health();
    process.kill(-(pid ?? 0), "SIGKILL");
    await acp.sandbox.untilHealth(
      "it restarts",
      (health) => health.runtime === "ok" && health.runtime_pid !== pid,
    );
    upstream.bodies.length = 0;
    expect(await acp.send("What was it again?")).toMatchObject({ state: "answered" });
    const sent = JSON.stringify(upstream.bodies);
    expect(sent).toContain("The word is ochre.");
    expect(sent).toContain("ran-42");
    expect(sent).not.toContain("Your own record of it was lost");
  });
});
