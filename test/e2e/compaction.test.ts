import { afterAll, beforeAll, expect } from "bun:test";
import type { Turn } from "../../src/contract/turn.ts";
import { type AgentSession, startAgentSession } from "../helpers/agent-session.ts";
import { needs } from "../helpers/needs.ts";
import { AGENT } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(...AGENT);

/** The real agent runtime, with a model whose conversations are compacted once it reports more tokens than these. */
let agent: AgentSession;
const scripted = { limit: { context: 50_000, output: 1_000 } };
beforeAll(async () => {
  if (!AGENT[1]) return;
  const config = { provider: { svc: { models: { scripted } } } };
  agent = await startAgentSession({ files: { "opencode.json": JSON.stringify(config) } });
  await agent.runs();
});
afterAll(() => agent?.[Symbol.asyncDispose]());

test("a turn whose conversation is compacted in the middle goes on, and is not cut off", async () => {
  const session = `${agent.sessions}/${agent.id}`;
  const text = "!say I begin.\n!tokens 60000\n!run echo hi\n!say The end.";
  const { body } = await agent.api.call("POST", `${session}/prompt`, { body: { text } });
  await until("it is answered", async () => {
    const { prompt } = (await agent.api.call("GET", `${session}/prompts/${body.prompt.prompt_id}`)).body;
    return prompt.state === "answered";
  });
  let turns: Turn[] = [];
  await until(
    () => `the turn is over: ${JSON.stringify(turns)}`,
    async () => {
      ({ turns } = (await agent.api.call("GET", `${session}/conversation`)).body);
      return turns[0]?.state !== "working";
    },
  );
  expect(turns.map(({ state }) => state)).toEqual(["done"]);
  // the scripted model answers what the runtime asks it then
  expect(turns[0]?.parts.map((part) => part.tool?.output ?? `${part.kind} ${part.text}`)).toEqual([
    ...[`prompt ${text}`, "text I begin.", "hi\n"],
    ...["reasoning A title", expect.stringMatching(/^text Continue if you have next steps/)],
  ]);
});
