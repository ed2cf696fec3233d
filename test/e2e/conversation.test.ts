import { afterAll, beforeAll, expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { Turn } from "../../src/contract/turn.ts";
import { type AgentSession, startAgentSession } from "../helpers/agent-session.ts";
import { attached, PNG } from "../helpers/attachments.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(...AGENT);

/** A conversation with the real agent runtime, as the server keeps it. */
let agent: AgentSession;
let session: string;

beforeAll(async () => {
  if (!AGENT[1]) return;
  agent = await startAgentSession({ secrets: { API_KEY: "a-secret-of-the-project" } });
  session = `${agent.sessions}/${agent.id}`;
  await agent.runs();
});
afterAll(() => agent?.[Symbol.asyncDispose]());

async function answered(text: string, more: object = {}): Promise<Prompt> {
  const { body } = await agent.api.call("POST", `${session}/prompt`, { body: { text, ...more } });
  let prompt: Prompt = body.prompt;
  await until(
    () => `the prompt has ended, and not ${prompt.state}`,
    async () => {
      prompt = (await agent.api.call("GET", `${session}/prompts/${prompt.prompt_id}`)).body.prompt;
      return prompt.ended_at !== null;
    },
  );
  return prompt;
}

const turns = async (): Promise<Turn[]> =>
  (await agent.api.call("GET", `${session}/conversation?limit=200`)).body.turns;
const shown = (turn: Turn | undefined) =>
  turn?.parts.map(({ kind, text, tool }) => (tool ? `${tool.name} ${tool.title}` : `${kind}: ${text}`));

test("a prompt has the agent's answer, and the conversation each step of it", async () => {
  const prompt = "!say I look.\n!run echo $API_KEY\n!write b.txt one\\ntwo\n!say All\n!say  done.";
  const { state, answer } = await answered(prompt);
  expect({ state, answer }).toEqual({ state: "answered", answer: "All done." });
  expect((await agent.api.call("GET", session)).body).toMatchObject({ name: null, title: "A title" });
  const [turn] = await turns();
  expect(shown(turn)).toEqual([
    `prompt: ${prompt}`,
    "text: I look.",
    "bash echo $API_KEY",
    "write b.txt",
    "text: All done.",
  ]);
  expect(turn).toMatchObject({
    state: "done",
    author: { kind: "user" },
    model: expect.stringContaining("/"),
  });
  expect(turn?.tokens?.output).toBeGreaterThan(0);
  expect(turn?.parts[2]?.tool?.output).toBe("[secret API_KEY]\n");
  expect(turn?.parts[3]?.tool?.files).toMatchObject([{ additions: 2, deletions: 0 }]);
});

test("the model is sent what was attached to a prompt, and the conversation names it", async () => {
  const attachments = [attached("shot.png", PNG), attached("notes.txt", "What the notes say.\n")];
  expect(await answered("!say I see.", { attachments })).toMatchObject({ state: "answered" });
  const { body } = agent.model.requests.findLast((request) => Array.isArray(request.body.tools)) ?? {};
  const sent = JSON.stringify(body?.messages);
  expect(sent).toContain(`data:image/png;base64,${PNG.toString("base64")}`);
  expect(sent).toContain("What the notes say.");
  const last = (await turns()).at(-1);
  expect(last?.parts.flatMap(({ file }) => file ?? [])).toEqual([
    { name: "shot.png", type: "image/png", size: PNG.length },
    { name: "notes.txt", type: "text/plain", size: 20 },
  ]);
  expect(shown(last)?.[0]).toBe("prompt: !say I see.");
});

test("an answer is stored word by word, also one to a person's chat", async () => {
  const { conversation } = await agent.runtime("GET", "/svc/health");
  const parts = [{ type: "text", text: "!say Half an\n!wait\n!say  answer." }];
  await agent.runtime("POST", `/session/${conversation}/prompt_async`, { parts });
  await until("half of it is stored", async () => {
    const last = (await turns()).at(-1);
    return last?.state === "working" && last.parts.at(-1)?.text === "Half an";
  });
  await agent.model.go();
  await until("the whole is stored", async () => {
    const last = (await turns()).at(-1);
    return last?.state === "done" && last.parts.at(-1)?.text === "Half an answer.";
  });
});

test("an aborted run leaves no request to the next one; one for a page is answered", async () => {
  const waits = (activity: string) =>
    until(`the agent is ${activity}`, async () => {
      const { body } = await agent.api.call("GET", session);
      return body.activity === activity;
    });
  const ask = async (text: string) => {
    await agent.api.call("POST", `${session}/prompt`, { body: { text } });
    await waits("waiting");
    return (await agent.api.call("GET", session)).body.waiting_for;
  };
  const fetches = '!tool webfetch {"url":"http://127.0.0.1:9/","format":"text"}\n!say Fetched.';
  expect((await agent.api.call("PATCH", session, { body: { mode: "ask" } })).status).toBe(200);
  for (const text of ["!run echo one", fetches, "!ask Which? | A | B"]) {
    await ask(text);
    expect((await agent.api.call("POST", `${session}/abort`)).status).toBe(200);
    await waits("idle");
    expect(await agent.runtime("GET", "/permission")).toEqual([]);
    expect(await agent.runtime("GET", "/question")).toEqual([]);
  }
  const aborted = (await turns()).slice(-3);
  expect(aborted.map(({ state }) => state)).toEqual(["aborted", "aborted", "aborted"]);
  const [asked] = aborted.flatMap(({ parts }) => parts.filter(({ kind }) => kind === "permission"));
  expect(asked).toMatchObject({ state: "interrupted", request: { reply: null } });
  await agent.api.call("POST", `${session}/prompt`, { body: { text: "!wait\n!say Done." } });
  await waits("working");
  await agent.model.go();
  await waits("idle");
  const { request_id } = await ask(fetches);
  const answered = await agent.api.call("POST", `${session}/answer`, {
    body: { request_id, answer: "once" },
  });
  expect(answered.status).toBe(200);
  await waits("idle");
  expect((await agent.api.call("PATCH", session, { body: { mode: "full" } })).status).toBe(200);
});

test("a restart gives the agent its conversation back, and keeps it", async () => {
  expect(await answered("!fail 401")).toMatchObject({ state: "failed", answer: null });
  const before = await turns();
  await agent.api.call("POST", `${session}/restart`);
  await agent.runs();
  await answered("Which turn is this?");
  const { body } = agent.model.requests.findLast((request) => Array.isArray(request.body.tools)) ?? {};
  const sent = JSON.stringify(body?.messages);
  for (const words of ["Half an answer.", "All done.", "echo $API_KEY", "Which turn is this?"])
    expect(sent).toContain(words);
  expect(sent).not.toContain("# Earlier in this conversation");
  const after = await turns();
  expect(after.slice(0, -1)).toEqual(before);
  expect(after.slice(-2).map(({ state }) => state)).toEqual(["failed", "done"]);
});
