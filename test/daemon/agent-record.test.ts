import { expect } from "bun:test";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import { RECAP, startLives } from "../helpers/agent-records.ts";
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

/** Ends a sandbox as the server does, and waits until its daemon has. */
async function end({ sandbox }: AgentSandbox): Promise<void> {
  sandbox.child.kill("SIGTERM");
  await sandbox.child.exited;
}

test("opencode continues in new sandboxes with its own record, also of a run that was cut off", async () => {
  using lives = startLives();
  await using first = await startAgentSandbox(lives.first());
  await outcomeOf(first.sandbox, "!say the word is ochre");
  await beginPrompt(first.sandbox, "!run echo half-$((40 + 2))\n!wait\n!say whole");
  // the runtime has recorded what it sends the model
  await until("the model knows what ran", () => sentIn(first).join().includes("half-42"));
  const { conversation } = await first.sandbox.health();
  await end(first);

  await using next = await startAgentSandbox(lives.next({ since: null }));
  expect(await outcomeOf(next.sandbox, "!say and now")).toMatchObject({ state: "answered" });
  const recorded = [
    'user: "!say the word is ochre"',
    'assistant: "the word is ochre"',
    'user: "!run echo half-$((40 + 2))\\n!wait\\n!say whole"',
    expect.stringMatching(/^assistant: /),
    expect.stringMatching(/^tool: .*half-42/),
    'user: "!say and now"',
  ];
  expect(sentIn(next)).toEqual(recorded);
  expect((await next.sandbox.health()).conversation).toBe(conversation);
  await end(next);

  // what a lost sandbox had not recorded is told before the next prompt
  await using last = await startAgentSandbox(lives.next({ since: "the last turn" }));
  await outcomeOf(last.sandbox, "!say and then");
  const sent = sentIn(last);
  expect(sent.slice(0, 7)).toEqual([...recorded, 'assistant: "and now"']);
  expect(sent).toHaveLength(9);
  expect(sent[7]).toContain("ends before the last turns");
  expect(sent[7]).toContain("the last turn");
  expect(sent.join()).not.toContain("all that svc knows");
});

test("without its record, opencode is told a summary once", async () => {
  using lives = startLives();
  await using agent = await startAgentSandbox(lives.next(null));
  await outcomeOf(agent.sandbox, "!say one");
  const { runtime_pid: pid } = await agent.sandbox.health();
  await agent.sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "b" } });
  await agent.sandbox.untilHealth(
    "it has restarted",
    (health) => health.runtime_pid !== pid && health.runtime === "ok",
  );
  await outcomeOf(agent.sandbox, "!say two");
  const sent = sentIn(agent);
  expect(sent).toHaveLength(4);
  expect(sent[0]).toContain("The agent was told a summary of the last turns.");
  expect(sent[0]).toContain(JSON.stringify(RECAP).slice(1, -1));
});
