import { afterAll, beforeAll, expect } from "bun:test";
import { type AgentSession, startAgentSession } from "../helpers/agent-session.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT } from "../helpers/runtime.ts";

const test = needs(...AGENT);

/** The three compiled programs and the real agent runtime: an agent's commands in its sandbox, and their output. */
let agent: AgentSession;
let sessionId: string;
let conversation: string;

beforeAll(async () => {
  if (!AGENT[1]) return;
  agent = await startAgentSession({ name: "Try", secrets: { API_KEY: "s3cret" } });
  sessionId = agent.id;
  await agent.runs();
  conversation = (await agent.runtime("POST", "/session", { title: "svc" })).id;
});
afterAll(() => agent?.[Symbol.asyncDispose]());

type Typed = { said: string; code: number };

/** What the agent's commands printed, one after the other, and their exit statuses. */
async function types(commands: readonly string[]): Promise<Typed[]> {
  const text = [...commands.map((command) => `!run ${command}`), "!say Done."].join("\n");
  await agent.runtime("POST", `/session/${conversation}/message`, { parts: [{ type: "text", text }] });
  const messages = await agent.runtime("GET", `/session/${conversation}/message`);
  const calls = messages
    .flatMap(({ parts }: { parts: { type: string }[] }) => parts)
    .filter(({ type }: { type: string }) => type === "tool");
  return calls
    .slice(-commands.length)
    .map(({ state }: { state: { output: string; metadata: { exit: number } } }) => ({
      said: state.output,
      code: state.metadata.exit,
    }));
}

test("svc in a sandbox needs no file and no login: it has user, project and session", async () => {
  const [whoami, ...others] = await types([
    "svc whoami --json",
    "ls -A ~/.config",
    "head -2 ~/.config/opencode/skills/svc/SKILL.md; git status --porcelain",
    "svc secrets ls | cut -f1; echo $API_KEY | wc -c",
    'svc sessions preview "$SVC_SESSION_ID" 3000',
    "env | grep -c ^SVC_TOKEN=",
  ]);
  expect(whoami?.code).toBe(0);
  expect(JSON.parse(whoami?.said ?? "")).toMatchObject({
    kind: "project",
    session_id: sessionId,
    project_name: "Example",
  });
  expect(others.map(({ said }) => said)).toEqual([
    "opencode\n",
    "---\nname: svc\n",
    "API_KEY\n7\n",
    expect.stringContaining(`p3000-${sessionId}`),
    "0\n",
  ]);
});

test("the agent has svc's tools, with the token of its session, for its own project", async () => {
  const parts = [
    { type: "text", text: "!tool svc_list_sessions {}\n!tool svc_list_triggers {}\n!say Done." },
  ];
  await agent.runtime("POST", `/session/${conversation}/message`, { parts });
  const messages = await agent.runtime("GET", `/session/${conversation}/message`);
  const [sessions, triggers] = messages
    .flatMap(({ parts }: { parts: { type: string }[] }) => parts)
    .filter(({ type, tool }: { type: string; tool?: string }) => type === "tool" && tool?.startsWith("svc_"));
  expect(JSON.parse(sessions.state.output).sessions).toMatchObject([{ session_id: sessionId }]);
  expect(JSON.parse(triggers.state.output)).toMatchObject({ triggers: [], failure: null });
});

test("opening a change request needs only a title; reports uncommitted and unpushed work with the next commands", async () => {
  const [early, untidy, local, whole, shown, listed] = await types([
    "svc cr open --title Early",
    "svc cr close 1; echo 2 > b.txt; svc cr open --title Untidy",
    "svc cr close 2; git add -A; git commit -qm 'Add b'; svc cr open --title Local",
    "svc cr close 3; git push -q origin HEAD && svc cr open --title Whole",
    "svc cr show 4",
    "svc cr ls --json",
  ]);
  expect(early?.said).toContain(
    "Opened #1, but:\n  It has no changes yet: commit, then git push origin HEAD",
  );
  expect(untidy?.said).toContain("1 change is not committed, so not part of it: git add, git commit");
  expect(local?.said).toContain("Commits are not pushed, so not part of it: git push origin HEAD");
  expect(whole).toMatchObject({ code: 0 });
  expect(whole?.said).toContain("Opened #4. Report this number to the user, who merges it.");
  expect(shown?.said).not.toContain("svc cr merge");
  const [row] = listed?.said.split("\n").filter(Boolean) ?? [];
  expect(JSON.parse(row ?? "[]")[0] ?? JSON.parse(row ?? "{}")).toMatchObject({
    origin_session_id: sessionId,
  });
});

test("a command that fails prints the next step", async () => {
  const rows: [string, number, string][] = [
    ["git push origin HEAD:main", 1, "git push origin HEAD:"],
    ["git commit -q --amend -m Other && git push --force origin HEAD", 1, "an agent cannot rewrite history"],
    ["svc projects ls", 1, "svc projects info"],
    ["svc cr open", 2, "needs --title"],
    ["svc cr opne --title x", 2, "Did you mean `svc cr open`?"],
    ["svc cr show nonsense", 2, "`svc cr ls` lists them"],
    ["SVC_CLI_TOKEN=svc_pat_wrong svc cr ls", 1, "A session's token expires with its sandbox"],
    ["svc login", 1, "A sandbox is signed in through its environment"],
  ];
  const ran = await types(rows.map(([command]) => command));
  for (const [index, [command, code, words]] of rows.entries())
    expect([command, ran[index]]).toEqual([command, { code, said: expect.stringContaining(words) }]);
});
