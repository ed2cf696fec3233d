import { expect } from "bun:test";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import { startLives } from "../helpers/agent-records.ts";
import { type AgentSandbox, beginPrompt, outcomeOf, startAgentSandbox } from "../helpers/agent-sandbox.ts";
import { needs } from "../helpers/needs.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** What the model was sent last, apart from the instructions: the role and the text of each message. */
function sentIn({ model }: AgentSandbox): string[] {
  const { body } = model.requests.findLast((request) => Array.isArray(request.body.tools)) ?? {};
  return arrayOf(field(body, "messages"))
    .filter((message) => textField(message, "role") !== "system")
    .map((message) => `${textField(message, "role")}: ${JSON.stringify(field(message, "content"))}`);
}

test("opencode continues in a new sandbox with its own record, also of a run that was cut off, and is told what followed", async () => {
  using lives = startLives();
  await using first = await startAgentSandbox(lives.first());
  await outcomeOf(first.sandbox, "!say the word is ochre");
  await beginPrompt(first.sandbox, "!run echo half-$((40 + 2))\n!wait\n!say whole");
  // the runtime has recorded what it sends the model
  await until("the model knows what ran", () => sentIn(first).join().includes("half-42"));
  const { conversation } = await first.sandbox.health();
  // as the server ends it
  first.sandbox.child.kill("SIGTERM");
  await first.sandbox.child.exited;

  // what a lost sandbox had not recorded is told before the next prompt
  await using next = await startAgentSandbox(lives.next({ since: "the last turn" }));
  expect(await outcomeOf(next.sandbox, "!say and now")).toMatchObject({ state: "answered" });
  const sent = sentIn(next);
  expect(sent).toEqual([
    'user: "!say the word is ochre"',
    'assistant: "the word is ochre"',
    'user: "!run echo half-$((40 + 2))\\n!wait\\n!say whole"',
    expect.stringMatching(/^assistant: /),
    expect.stringMatching(/^tool: .*half-42/),
    expect.stringMatching(/^user: .*ends before the last turns.*the last turn/s),
    'user: "!say and now"',
  ]);
  expect(sent.join()).not.toContain("all that svc knows");
  expect((await next.sandbox.health()).conversation).toBe(conversation);
});
