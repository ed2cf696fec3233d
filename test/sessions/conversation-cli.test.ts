import { afterAll, beforeAll, expect, test } from "bun:test";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import { svc } from "../helpers/cli-run.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let id: string;

beforeAll(async () => {
  bench = await startSessions();
  const runtimeOf = hostRuntimes(bench.provider);
  const { id: started, runtime } = await followedSession(bench, runtimeOf);
  id = started;
  talk(runtime);
  await until("the conversation is stored", async () => {
    const { turns } = (await bench.call("GET", `/${id}/conversation`)).body;
    return turns.length === 3 && turns[2].state === "aborted";
  });
  await bench.call("POST", `/${id}/stop`);
  await bench.becomes(id, "stopped");
});
afterAll(() => bench.stop());

function talk(runtime: RuntimeHost): void {
  const tool = (status: string, more: object) => ({
    id: "prt_t",
    type: "tool",
    tool: "bash",
    state: { status, title: "npm test\u001b[31m", input: { command: "npm test" }, ...more },
  });
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "Run\nthe tests" });
  runtime.message({ id: "msg_1a", role: "assistant", parentID: "msg_1" });
  runtime.part("msg_1a", { id: "prt_r", type: "reasoning", text: "Which ones?" });
  runtime.part(
    "msg_1a",
    tool("completed", { output: "```\nok\u001b]0;x\u0007", metadata: { diff: "-a\n+b" } }),
  );
  const use = (id: string, name: string, input: object, metadata: object) =>
    runtime.part("msg_1a", {
      ...{ id, callID: id, type: "tool", tool: name },
      state: { status: "completed", input, metadata },
    });
  const todos = [
    { content: "look\n\u001b[31m", status: "completed" },
    { content: "fix", status: "in_progress" },
  ];
  use("prt_p", "todowrite", { todos }, {});
  const questions = [{ question: "Which\u0007?", options: [] }, { question: "Sure?" }];
  use("prt_q", "question", { questions }, { answers: [["a", "b"]] });
  runtime.part("msg_1a", { id: "prt_a", type: "text", text: "They **pass**.\u202e" });
  const time = { created: 1, completed: 2 };
  runtime.message({ id: "msg_1a", role: "assistant", time, finish: "stop" });
  runtime.message({ id: "msg_n", role: "user" });
  runtime.part("msg_n", { id: "prt_n", type: "text", text: `${DAEMON_MARK}The runtime restarted.` });
  runtime.message({ id: "msg_2", role: "user" });
  runtime.part("msg_2", { id: "prt_2", type: "text", text: "Again" });
  const error = { name: "MessageAbortedError", data: { message: "Aborted" } };
  runtime.message({ id: "msg_2a", role: "assistant", parentID: "msg_2", time, error });
}

const run = (...args: string[]) =>
  svc(["sessions", "conversation", ...args], {
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
  });

test("prints the conversation of a session that has ended as Markdown", async () => {
  expect(await run(id.slice(0, 8))).toMatchObject({
    code: 0,
    stdout: `## 1. Prompt, 1970-01-01T00:00:01.000Z

> Run
> the tests

- \`bash\` npm test\\x1b[31m

- [x] look \\x1b[31m
- [ ] fix (in progress)

- *Asked:* Which\\x07?
  *Answer:* a, b
- *Asked:* Sure?
  *Answer:* Answered

They **pass**.\\u202e

## 2. svc, 1970-01-01T00:00:01.000Z

*The runtime restarted.*

## 3. Prompt, 1970-01-01T00:00:01.000Z

> Again

*It was aborted.*
`,
  });
});

test("with --details also thoughts, inputs and outputs, in fences that they cannot end", async () => {
  const { stdout } = await run(id, "--details", "--limit", "3");
  expect(stdout).toContain("*Thought:* Which ones?\n");
  expect(stdout).toContain("```\ncommand: npm test\n```\n");
  expect(stdout).toContain("```diff\n-a\n+b\n```\n");
  expect(stdout).toContain("````\n```\nok\\x1b]0;x\\x07\n````\n");
});

test("--limit prints the last turns, and --json all fields", async () => {
  expect((await run(id, "--limit", "1")).stdout).toStartWith("## 3. Prompt");
  const turns = JSON.parse((await run(id, "--json=number,state")).stdout);
  expect(turns).toEqual([
    { number: 1, state: "done" },
    { number: 2, state: "done" },
    { number: 3, state: "aborted" },
  ]);
});

test("says that nothing was said", async () => {
  const { session_id: silent } = await bench.create();
  expect(await run(silent)).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "Nothing has been said in this session yet.\n",
  });
});
