import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ChangeRequestTurns } from "../../src/contract/change-request-turns.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let id: string;
let cr: string;

beforeAll(async () => {
  bench = await startSessions();
  const runtimeOf = hostRuntimes(bench.provider);
  const { id: started, runtime } = await followedSession(bench, runtimeOf);
  id = started;
  talk(runtime);
  await until("the conversation is stored", async () => {
    const { turns } = (await bench.call("GET", `/${id}/conversation`)).body;
    return turns.length === 3 && turns[2].state === "done";
  });
  bench.remote.commit(id, { "src/a.ts": "const answer = 42;\n" });
  cr = await open({ head_ref: id, session_id: id });
});
afterAll(() => bench.stop());

async function open(fields: object): Promise<string> {
  const path = `/v1/projects/${bench.projectId}/change-requests`;
  const { status, body } = await bench.api.call("POST", path, { body: { title: "Change", ...fields } });
  expect(status).toBe(201);
  return String(body.number);
}

function talk(runtime: RuntimeHost): void {
  const say = (name: string, text: string, ...uses: object[]) => {
    runtime.message({ id: `msg_${name}`, role: "user" });
    runtime.part(`msg_${name}`, { id: `prt_${name}`, type: "text", text });
    runtime.message({ id: `msg_${name}a`, role: "assistant", parentID: `msg_${name}` });
    for (const [at, use] of uses.entries())
      runtime.part(`msg_${name}a`, { id: `prt_${name}${at}`, type: "tool", ...use });
    const time = { created: 1, completed: 2 };
    runtime.message({ id: `msg_${name}a`, role: "assistant", time, finish: "stop" });
  };
  const completed = (input: object, metadata: object) => ({ status: "completed", input, metadata });
  const todos = [{ content: "answer", status: "pending" }];
  say("1", "Plan it", { tool: "todowrite", state: completed({ todos }, {}) });
  const diff =
    "--- a\n+++ b\n@@ -1 +1,3 @@\n-const answer = 41;\n+  const answer = 42;\n+}\n+const more = 1;\n";
  const filediff = { file: "a.ts", additions: 3, deletions: 1 };
  say("2", "x".repeat(600), {
    tool: "edit",
    state: completed({ filePath: "/workspace/src/a.ts" }, { diff, filediff }),
  });
  const input = { filePath: "/workspace/b.md", content: "# The readme\n\nhello there\n" };
  say("3", "Write a readme", { tool: "write", state: completed(input, { exists: false }) });
}

const read = (number: string, query = "", token = bench.api.token) =>
  bench.api.call("GET", `/v1/projects/${bench.projectId}/change-requests/${number}/turns${query}`, { token });

test("has the prompts of the session, the newest first, the lines that each turn wrote, and the plan", async () => {
  const { status, body } = await read(cr);
  expect(status).toBe(200);
  const { session_id, plan, turns }: ChangeRequestTurns = body;
  expect(session_id).toBe(id);
  expect(plan).toEqual([{ text: "answer", state: "pending" }]);
  expect(turns.map(({ number, prompt, edits, cut }) => ({ number, prompt, edits, cut }))).toEqual([
    {
      number: 3,
      prompt: "Write a readme",
      edits: [{ path: "/workspace/b.md", lines: ["# The readme", "hello there"] }],
      cut: false,
    },
    {
      number: 2,
      prompt: "x".repeat(500),
      edits: [{ path: "/workspace/src/a.ts", lines: ["const answer = 42;", "const more = 1;"] }],
      cut: false,
    },
    { number: 1, prompt: "Plan it", edits: [], cut: false },
  ]);
});

test("comes in pages", async () => {
  const first: ChangeRequestTurns = (await read(cr, "?limit=2")).body;
  expect(first.turns.map(({ number }) => number)).toEqual([3, 2]);
  const rest: ChangeRequestTurns = (await read(cr, `?limit=2&cursor=${first.next_cursor}`)).body;
  expect(rest.turns.map(({ number }) => number)).toEqual([1]);
  expect(rest.next_cursor).toBeUndefined();
});

test("agents read that of sessions whose conversation they may read", async () => {
  const token = bench.provider.sandboxes.get(id)?.environment["SVC_CLI_TOKEN"] ?? "";
  expect((await read(cr, "", token)).status).toBe(200);
  const { session_id } = await bench.create({});
  await bench.becomes(session_id, "running");
  const other = bench.provider.sandboxes.get(session_id)?.environment["SVC_CLI_TOKEN"] ?? "";
  expect((await read(cr, "", other)).status).toBe(403);
});

test("a change request that no session opened has none", async () => {
  bench.remote.commit("by-hand", { c: "c\n" });
  const { body } = await read(await open({ head_ref: "by-hand" }));
  expect(body).toEqual({ session_id: null, plan: null, turns: [] });
});
