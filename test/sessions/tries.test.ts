import { afterAll, beforeAll, expect, test } from "bun:test";
import type { OneTry, Tries } from "../../src/contract/tries.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

const CAP = 7;
let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: String(CAP), SVC_IDLE_TIMEOUT: "3600" } });
});
afterAll(() => bench.stop());

const call = (method: string, path: string, body?: unknown, token = bench.api.token) =>
  bench.api.call(method, `/v1/projects/${bench.projectId}${path}`, {
    token,
    ...(body !== undefined && { body }),
  });
const start = (count: number, more: object = {}) =>
  call("POST", "/tries", { initial_prompt: "Fix the login", count, ...more });
const read = async (id: string): Promise<Tries> => (await call("GET", `/tries/${id}`)).body;

/** Tries whose sessions run. */
async function running(count: number): Promise<Tries> {
  const { body } = await start(count);
  for (const { session } of body.tries) await bench.becomes(session.session_id, "running");
  return body;
}

async function removeAll(): Promise<void> {
  const { sessions } = (await bench.call("GET", "?limit=200")).body;
  for (const { session_id } of sessions) await bench.call("DELETE", `/${session_id}`);
}

test("several sessions start from one prompt, all or none, and a retry starts no more", async () => {
  const tries_id = crypto.randomUUID();
  const made = await start(3, { tries_id, model: "p/m" });
  expect([made.status, made.body.tries_id]).toEqual([201, tries_id]);
  const { tries }: Tries = made.body;
  expect(tries.map(({ session }) => [session.title, session.model, session.tries_id])).toEqual(
    Array(3).fill(["Fix the login", "p/m", tries_id]),
  );
  expect(new Set(tries.map(({ session }) => session.branch_name)).size).toBe(3);
  const ids = ({ tries: all }: Tries) => all.map(({ session }) => session.session_id).toSorted();
  expect(ids((await start(3, { tries_id })).body)).toEqual(ids(made.body));
  const before = (await bench.call("GET", "?limit=200")).body.sessions.length;
  expect(await start(5)).toMatchObject({ status: 429, body: { code: "concurrent_session_limit" } });
  expect((await bench.call("GET", "?limit=200")).body.sessions).toHaveLength(before);
  for (const count of [1, 6]) expect((await start(count)).body.code).toBe("validation_failed");
  await removeAll();
});

test("agents and models take turns, and one that the server lacks stops all", async () => {
  const used = async (more: object, count = 3) =>
    (await start(count, more)).body.tries
      .map(({ session }: OneTry) => [session.runtime, session.model])
      .toSorted();
  expect(await used({ runtimes: ["codex", "claude-code"], models: ["a/m"] })).toEqual([
    ["claude-code", "a/m"],
    ["codex", "a/m"],
    ["codex", "a/m"],
  ]);
  expect(await used({ models: ["a/m", "b/m", "c/m"], model: "d/m" })).toEqual([
    [null, "a/m"],
    [null, "b/m"],
    [null, "c/m"],
  ]);
  await removeAll();
  expect(await start(2, { runtimes: ["codex", "goose"] })).toMatchObject({
    status: 400,
    body: { details: [{ path: "runtime" }] },
  });
  for (const more of [{ runtimes: [] }, { models: [" "] }, { models: Array(6).fill("m") }])
    expect((await start(2, more)).status).toBe(400);
  expect((await bench.call("GET", "")).body.sessions).toEqual([]);
});

test("they are compared by what they have pushed, their checks and their change requests", async () => {
  const { tries_id, tries } = await running(3);
  const [first, second] = tries.map(({ session }) => session);
  const sha = bench.remote.commit(first?.branch_name ?? "", { b: "1\n2\n", a: "2\n" });
  await call("POST", `/statuses/${sha}`, { context: "ci", state: "failure" });
  await call("POST", "/change-requests", { title: "One", head_ref: first?.branch_name });
  const [one, two, three] = (await read(tries_id)).tries;
  expect(one).toMatchObject({
    session: { session_id: first?.session_id, status: "running" },
    change: { head_sha: sha, files_changed: 2, additions: 3, deletions: 1 },
    checks: { state: "failure", failed: 1 },
    change_request: { status: "open" },
  });
  expect(two).toMatchObject({
    session: { session_id: second?.session_id },
    change: { files_changed: 0, additions: 0, deletions: 0 },
    checks: { state: "none" },
    change_request: null,
  });
  bench.remote.git("branch", "-D", three?.session.branch_name ?? "");
  expect((await read(tries_id)).tries[2]?.change).toBeNull();
  await removeAll();
});

test("choosing one opens its change request and stops the others; their branches stay", async () => {
  const { tries_id, tries } = await running(3);
  const [first, second, third] = tries.map(({ session }) => session);
  const choose = (session_id: string | undefined, token?: string) =>
    call("POST", `/tries/${tries_id}/choose`, { session_id }, token);
  expect(await choose(second?.session_id)).toMatchObject({ status: 409, body: { code: "nothing_to_merge" } });
  expect(await choose(crypto.randomUUID())).toMatchObject({ status: 404 });
  expect((await bench.get(first?.session_id ?? "")).status).toBe("running");
  bench.remote.commit(second?.branch_name ?? "", { c: "1\n" });
  const agent = (await call("POST", "/cli-token", { name: "a" })).body.token;
  expect((await choose(second?.session_id, agent)).status).toBe(403);
  const chosen = await choose(second?.session_id);
  expect(chosen.status).toBe(200);
  const request = chosen.body.tries[1].change_request;
  expect((await call("GET", `/change-requests/${request.number}`)).body.change_request).toMatchObject({
    title: "Fix the login",
    head_ref: second?.branch_name,
    base_ref: "main",
    origin_session_id: second?.session_id,
  });
  for (const id of [first?.session_id, third?.session_id]) await bench.becomes(id ?? "", "stopped");
  expect((await bench.get(second?.session_id ?? "")).status).toBe("running");
  expect(bench.remote.sha(first?.branch_name ?? "")).toBe(bench.remote.sha("main"));
  // again, it opens no other
  expect((await choose(second?.session_id)).body.tries[1].change_request).toEqual(request);
  await removeAll();
});

test("tries of nothing, or of another project, are not found", async () => {
  const { body } = await start(2);
  expect((await call("GET", `/tries/${crypto.randomUUID()}`)).status).toBe(404);
  expect((await call("GET", "/tries/x")).body.code).toBe("validation_failed");
  const { project_id } = await bench.api.project(bench.remote.url);
  expect((await bench.api.call("GET", `/v1/projects/${project_id}/tries/${body.tries_id}`)).status).toBe(404);
  await removeAll();
});
