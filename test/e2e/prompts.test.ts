import { afterAll, beforeAll, expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import { type AgentSession, startAgentSession } from "../helpers/agent-session.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(...AGENT);

/** Prompts from outside, from the API down to the real agent runtime in a local sandbox. */
let agent: AgentSession;
let session: string;

beforeAll(async () => {
  if (!AGENT[1]) return;
  agent = await startAgentSession({ initial_prompt: "!run echo 1 >> said.txt\n!say First." });
  session = `${agent.sessions}/${agent.id}`;
});
afterAll(() => agent?.[Symbol.asyncDispose]());

const say = async (text: string): Promise<Prompt> =>
  (await agent.api.call("POST", `${session}/prompt`, { body: { text } })).body.prompt;

/** Waits until the session's prompts have these states. */
async function become(...states: Prompt["state"][]): Promise<Prompt[]> {
  let last: Prompt[] = [];
  await until(
    () => `the prompts are ${states.join(", ")}, and not ${JSON.stringify(last)}`,
    async () => {
      last = (await agent.api.call("GET", `${session}/prompts`)).body.prompts.toReversed();
      return last.map(({ state }) => state).join() === states.join();
    },
  );
  return last;
}

test("prompts are answered in order, in the session's one conversation", async () => {
  // while it still starts
  await say("!run echo 2 >> said.txt\n!say Second.");
  await say("!fail 401");
  await say("!run echo 4 >> said.txt\n!run git add -A && git commit -qm Said && git push -q origin HEAD");
  const [, , failed] = await become("answered", "answered", "failed", "answered");
  expect(failed?.error).toBe("It fails as it was told to.");
  const { conversation } = await agent.runtime("GET", "/svc/health");
  expect(await agent.runtime("GET", "/session")).toMatchObject([{ id: conversation, title: "A title" }]);
  expect(agent.remote.git("show", `${agent.id}:said.txt`).trim()).toBe("1\n2\n4");
});

test("queued prompts wait for a person's chat; an unanswered question is aborted, and the next prompt runs", async () => {
  const { conversation } = await agent.runtime("GET", "/svc/health");
  const parts = [{ type: "text", text: "!wait\n!say Mine." }];
  await agent.runtime("POST", `/session/${conversation}/prompt_async`, { parts });
  await say("!ask Which one? | Left | Right");
  await say("!say Last.");
  await agent.model.go();
  await until("it asks", async () => (await agent.runtime("GET", "/question")).length === 1);
  const messages: { info: { role: string }; parts: { type: string; text?: string }[] }[] =
    await agent.runtime("GET", `/session/${conversation}/message`);
  const texts = messages.flatMap(({ parts: all }) => all.flatMap(({ text }) => text ?? [])).join("\n");
  expect(texts).toContain("Mine.");
  expect((await agent.api.call("POST", `${session}/abort`)).status).toBe(200);
  await become("answered", "answered", "failed", "answered", "aborted", "answered");
});
