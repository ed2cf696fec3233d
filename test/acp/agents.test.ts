import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentName } from "../../src/sandboxes/runtime/agents.ts";
import { type AcpSandbox, acpSandbox, agentProgramOf, agentTitle, textOf } from "../helpers/acp-sandbox.ts";
import { outcomeOf } from "../helpers/agent-sandbox.ts";
import { type AgentUpstream, startAgentUpstream } from "../helpers/agent-upstream.ts";
import { needs } from "../helpers/needs.ts";
import { startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

async function startAgent(
  name: AgentName,
  program: string | null,
  { url }: AgentUpstream,
  env: Record<string, string> = {},
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

  const start = (upstream: AgentUpstream, env?: Record<string, string>) =>
    startAgent(name, program, upstream, env);

  test("runs a command that its model asks for, and answers, offline", async () => {
    using upstream = startAgentUpstream("echo ran-$((40 + 2))");
    await using acp = await start(upstream);
    expect(await acp.send("Run the command that I told you about.")).toMatchObject({ state: "answered" });
    const answer = await acp.answer();
    expect(textOf(answer)).toContain("The command printed: ran-42");
    const tool = answer.parts.find(({ type }) => type === "tool");
    expect(tool).toMatchObject({ tool: "bash", state: { status: "completed" } });
    expect(tool?.state?.output).toContain("ran-42");
    expect(answer.info).toMatchObject({ finish: "stop", providerID: "svc", modelID: "scripted" });
    expect([...upstream.credentials].filter((each) => !each.includes("the-key-of-this-start"))).toEqual([]);
    expect(JSON.stringify(upstream.bodies)).toContain("You work in an svc session");
  });

  test.each(["ask", "auto-edit"] as const)(
    "in the mode %s, it asks before it runs a command",
    async (mode) => {
      using upstream = startAgentUpstream('sh -c "touch asked.txt" && echo ran-$((40 + 2))');
      await using acp = await start(upstream, { SVC_PERMISSION_MODE: mode });
      const made = join(acp.sandbox.workspace, "asked.txt");
      await acp.begin("Run the command that I told you about.");
      const asked = await nextRequest(acp);
      expect(asked?.permission).toBe("bash");
      expect(existsSync(made)).toBe(false);
      await acp.json("POST", `/permission/${asked?.id}/reply`, { reply: "once" });
      await isOver(acp);
      expect(existsSync(made)).toBe(true);
    },
  );

  test("answers with another model from the next prompt on, and knows what was said", async () => {
    using upstream = startAgentUpstream("echo ran-$((40 + 2))");
    await using acp = await start(upstream);
    await acp.send("The word is ochre.");
    upstream.bodies.length = 0;
    const choice = { model: "svc/another", agent: null, mode: "full", effort: "high" } as const;
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
    using upstream = startAgentUpstream("echo ran-$((40 + 2))");
    await using acp = await start(upstream);
    await acp.send("The word is ochre.");
    const { runtime_pid: pid } = await acp.sandbox.health();
    process.kill(-(pid ?? 0), "SIGKILL");
    await acp.sandbox.untilHealth(
      "it restarts",
      (health) => health.runtime === "ok" && health.runtime_pid !== pid,
    );
    upstream.bodies.length = 0;
    expect(await acp.send("Which word?")).toMatchObject({ state: "answered" });
    const sent = JSON.stringify(upstream.bodies);
    expect(sent).toContain("The word is ochre.");
    expect(sent).toContain("ran-42");
    expect(sent).not.toContain("Your own record of it was lost");
  });
});

describe("Codex changes a file", () => {
  const program = agentProgramOf("codex");
  const test = needs(agentTitle("codex"), program !== null);
  const PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\nEOF\n";

  test.each([
    ["ask", "edit"],
    ["auto-edit", null],
  ] as const)("in the mode %s, after a question: %p", async (mode, permission) => {
    using upstream = startAgentUpstream(PATCH);
    await using acp = await startAgent("codex", program, upstream, { SVC_PERMISSION_MODE: mode });
    await acp.begin("Change the file.");
    const asked = await nextRequest(acp);
    expect(asked?.permission ?? null).toBe(permission);
    if (asked) await acp.json("POST", `/permission/${asked.id}/reply`, { reply: "once" });
    await isOver(acp);
    expect(existsSync(join(acp.sandbox.workspace, "made.txt"))).toBe(true);
  });
});

needs(agentTitle("claude-code"), agentProgramOf("claude-code") !== null)(
  "Claude Code asks a person, who chooses",
  async () => {
    const question = {
      ...{ question: "Which database?", header: "Database", multiSelect: false },
      options: ["Postgres", "SQLite"].map((label) => ({ label, description: `It is ${label}` })),
    };
    using upstream = startAgentUpstream(async (results) =>
      results === 0
        ? { tool: "AskUserQuestion", input: { questions: [question] } }
        : { text: "Then I use that." },
    );
    await using acp = await startAgent("claude-code", agentProgramOf("claude-code"), upstream);
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
    await until("it answers", async () => textOf(await acp.answer()).includes("Then I use that."));
    expect(JSON.stringify(upstream.bodies.at(-1))).toContain('\\"Which database?\\"=\\"SQLite\\"');
  },
);
