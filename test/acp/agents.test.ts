import { describe, expect } from "bun:test";
import { acpSandbox, agentProgramOf, agentTitle, textOf } from "../helpers/acp-sandbox.ts";
import { type AgentUpstream, startAgentUpstream } from "../helpers/agent-upstream.ts";
import { needs } from "../helpers/needs.ts";
import { startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

async function start(name: "claude-code" | "codex", { url }: AgentUpstream) {
  const sandbox = await startSandbox({
    env: {
      SVC_RUNTIME_NAME: name,
      SVC_RUNTIME_BIN: agentProgramOf(name) ?? "",
      SVC_BOOTSTRAP_OPENCODE_SESSION: "1",
      SVC_LLM_BASE_URL: `${url}/v1/llm/openai/v1`,
      SVC_LLM_API_KEY: "the-key-of-this-start",
      SVC_LLM_MODEL: "scripted",
    },
  });
  await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
  return acpSandbox(sandbox, sandbox.home);
}

describe.each(["claude-code", "codex"] as const)("%s, in the place of the runtime", (name) => {
  const test = needs(agentTitle(name), agentProgramOf(name) !== null);

  test("runs a command that its model asks for, and answers, offline", async () => {
    using upstream = startAgentUpstream("echo ran-$((40 + 2))");
    await using acp = await start(name, upstream);
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

  test("goes on with its own conversation after the runtime was killed", async () => {
    using upstream = startAgentUpstream("echo ran-$((40 + 2))");
    await using acp = await start(name, upstream);
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
    await using acp = await start("claude-code", upstream);
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
