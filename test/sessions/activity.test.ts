import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import { RuntimeActivity } from "../../src/conversation/runtime-activity.ts";
import { askOf } from "../../src/conversation/runtime-event.ts";
import { storeActivity } from "../../src/features/sessions/conversation/activity.ts";
import { sessionRow } from "../../src/features/sessions/row.ts";
import { Changes } from "../../src/lib/changes.ts";
import { svc } from "../helpers/cli-run.ts";
import { testConfig } from "../helpers/isolation.ts";
import { CONVERSATION, followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { changeRun, openSessionRow } from "../helpers/session-row.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "20", SVC_IDLE_TIMEOUT: "3600" } });
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

async function followed(): Promise<{ id: string; runtime: RuntimeHost }> {
  const found = await followedSession(bench, runtimeOf);
  await does(found.id, "idle");
  return found;
}

/** Waits until the agent does this. */
async function does(id: string, activity: Session["activity"]): Promise<Session> {
  let last = await bench.get(id);
  await until(
    () => `the agent is ${activity}, and not ${last.activity}`,
    async () => {
      last = await bench.get(id);
      return last.activity === activity;
    },
  );
  return last;
}

const QUESTION = {
  question: "Which\u0000 one?",
  options: [{ label: "Left", description: "the first" }],
  custom: true,
};
const answer = (id: string, body: object) => bench.call("POST", `/${id}/answer`, { body });

test("a session says what its agent does, and since when", async () => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  const { activity_at: since, waiting_for: none } = await does(id, "working");
  expect(Math.abs(Date.parse(since ?? "") - Date.now())).toBeLessThan(60_000);
  expect(none).toBeNull();
  runtime.ask("question", { id: "que_1", questions: [QUESTION] });
  const { waiting_for: asked } = await does(id, "waiting");
  expect(asked).toEqual({
    request_id: "que_1",
    kind: "question",
    kept: false,
    permission: null,
    patterns: [],
    questions: [
      {
        question: "Which\uFFFD one?",
        options: [{ label: "Left", description: "the first" }],
        multiple: false,
        custom: true,
      },
    ],
  });
  expect((await answer(id, { request_id: "que_1", answer: "Left" })).status).toBe(200);
  await does(id, "working");
  expect(runtime.replies).toEqual(["/question/que_1/reply"]);
  runtime.setBusy(false);
  await does(id, "idle");
  await bench.call("POST", `/${id}/stop`);
  const stopped = await bench.becomes(id, "stopped");
  expect([stopped.activity, stopped.activity_at, stopped.waiting_for]).toEqual([null, null, null]);
});

test("what an aborted run waited for is waited for no longer", async () => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["rm *"] });
  expect((await does(id, "waiting")).waiting_for).toMatchObject({ permission: "bash", patterns: ["rm *"] });
  runtime.setBusy(false);
  await does(id, "idle");
});

test("what an aborted run asked is rejected: the runtime would list it in the next one", async () => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["rm *"] });
  runtime.ask("question", { id: "que_1", questions: [QUESTION] });
  await does(id, "waiting");
  const standIn = bench.provider.sandboxes.get(id);
  if (standIn) standIn.health.busy = true;
  bench.provider.onAbort = () => runtime.setBusy(false);
  expect((await bench.call("POST", `/${id}/abort`)).status).toBe(200);
  expect(runtime.replies).toEqual(["/permission/per_1/reply", "/question/que_1/reject"]);
  runtime.setBusy(true);
  runtime.cut();
  await until("it is followed again", () => runtime.followers > 0);
  await does(id, "working");
});

test("a permission request that the runtime cannot list is waited for, answered and rejected", async () => {
  const { id, runtime } = await followed();
  runtime.isDown = (path) => path === "/permission";
  runtime.setBusy(true);
  const ask = (request: string) => {
    runtime.ask("permission", { id: request, permission: "webfetch", patterns: ["*"] });
    return does(id, "waiting");
  };
  await ask("per_1");
  runtime.cut();
  await until("it is followed again", () => runtime.followers > 0);
  expect((await does(id, "waiting")).waiting_for).toMatchObject({ permission: "webfetch", patterns: ["*"] });
  expect((await answer(id, { request_id: "per_1", answer: "once" })).status).toBe(200);
  await does(id, "working");
  await ask("per_2");
  const standIn = bench.provider.sandboxes.get(id);
  if (standIn) standIn.health.busy = true;
  bench.provider.onAbort = () => runtime.setBusy(false);
  expect((await bench.call("POST", `/${id}/abort`)).status).toBe(200);
  expect(runtime.replies).toEqual(["/permission/per_1/reply", "/permission/per_2/reply"]);
});

test("what happened while the stream was cut is read when it is back", async () => {
  const { id, runtime } = await followed();
  runtime.cut();
  runtime.isBusy = true;
  runtime.ask("permission", { id: "per_1", permission: "edit", patterns: [] });
  await does(id, "waiting");
});

test("a sandbox that has ended, or was replaced, changes nothing", async () => {
  const { database, sessionId } = await openSessionRow();
  const session = await sessionRow(database.db, sessionId);
  if (!session) throw new Error("no session");
  const deps = {
    ...{ db: database.db, changes: new Changes(), clock: () => new Date() },
    ...{ config: testConfig({}), sandboxes: bench.provider.sandboxesOf },
  };
  const store = async (generation: number) => {
    await storeActivity(deps, { ...session, generation }, { activity: "working", waitingFor: null });
    return (await sessionRow(database.db, sessionId))?.activity;
  };
  expect(await store(session.generation)).toBeNull();
  await changeRun(database.db, sessionId, { status: "running" });
  expect(await store(session.generation + 1)).toBeNull();
  expect(await store(session.generation)).toBe("working");
  await database.close();
});

describe("an answer", () => {
  test("must fit the request, and the request must be open", async () => {
    const { id, runtime } = await followed();
    runtime.setBusy(true);
    runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["ls"] });
    await does(id, "waiting");
    const wrong = await answer(id, { request_id: "per_1", answer: "yes" });
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      "answer must be once, always, reject: the agent asks for a permission.",
    ]);
    const other = await answer(id, { request_id: "per_2", answer: "once" });
    expect([other.status, other.body.code]).toEqual([409, "not_waiting"]);
    expect((await answer(id, { request_id: "per_1", answer: "always" })).status).toBe(200);
    runtime.ask("question", { id: "que_2", questions: [QUESTION, QUESTION] });
    await does(id, "waiting");
    expect((await answer(id, { request_id: "que_2", answer: "Left" })).status).toBe(400);
    expect((await answer(id, { request_id: "que_2", answer: [["Left"], ["a", "b"]] })).status).toBe(200);
    expect(runtime.replies).toEqual(["/permission/per_1/reply", "/question/que_2/reply"]);
    await bench.call("POST", `/${id}/stop`);
    await bench.becomes(id, "stopped");
    const late = await answer(id, { request_id: "que_2", answer: "x" });
    expect([late.status, late.body.code]).toEqual([409, "not_waiting"]);
  });

  test("is given on the command line, which shows the request", async () => {
    const { id, runtime } = await followed();
    const run = (...args: string[]) =>
      svc(["sessions", ...args], {
        env: {
          SVC_API_URL: `${bench.api.url}/v1`,
          SVC_CLI_TOKEN: bench.api.token,
          SVC_PROJECT_ID: bench.projectId,
        },
      });
    const early = await run("answer", id, "once");
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining("waits for nothing") });
    runtime.setBusy(true);
    runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["rm -rf\u001b[2J x"] });
    await does(id, "waiting");
    expect((await run("ls")).stdout).toContain("running");
    expect((await run("info", id)).stdout).toContain("permission for bash rm -rf\\x1b[2J x");
    const wrong = await run("answer", id, "yes");
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Answer once, always or reject."),
    });
    expect(await run("answer", id.slice(0, 8), "reject")).toMatchObject({
      code: 0,
      stdout: `${id}: answered\n`,
    });
    await does(id, "working");
    runtime.ask("question", { id: "que_2", questions: [QUESTION] });
    await does(id, "waiting");
    const { stdout } = await run("answer", id, "Left", "--json");
    expect(JSON.parse(stdout)).toEqual({ session_id: id, request_id: "que_2", answer: "Left" });
    expect(runtime.replies).toEqual(["/permission/per_1/reply", "/question/que_2/reply"]);
  });
});

describe("the runtime's events", () => {
  const ask = askOf({ id: "per_1", sessionID: "ses_2", permission: "bash", patterns: [] });
  const event = (type: string, properties: object) => ({
    type,
    properties: { sessionID: CONVERSATION, ...properties },
  });

  test("a subagent's work and requests count", () => {
    const activity = new RuntimeActivity();
    expect(activity.state.activity).toBe("idle");
    activity.applyEvent(event("session.status", { sessionID: "ses_2", status: { type: "busy" } }));
    activity.applyEvent(event("session.status", { status: { type: "busy" } }));
    activity.applyEvent(event("session.idle", {}));
    expect(activity.state.activity).toBe("working");
    activity.applyEvent(event("permission.asked", { ...ask, permission: "bash", patterns: [] }));
    expect(activity.state).toMatchObject({ activity: "waiting", ask: { id: "per_1" } });
    activity.applyEvent(event("permission.replied", { requestID: "per_1" }));
    expect(activity.state.activity).toBe("working");
    activity.applyEvent(event("session.idle", { sessionID: "ses_2" }));
    expect(activity.state.activity).toBe("idle");
  });

  test("a snapshot replaces what was known; one that is idle waits for nothing", () => {
    const activity = new RuntimeActivity();
    activity.applySnapshot({ ses_9: { type: "retry" } }, ask ? [ask] : []);
    expect(activity.state.activity).toBe("waiting");
    activity.applySnapshot({}, ask ? [ask] : []);
    expect(activity.state).toEqual({ activity: "idle", ask: null });
    activity.applySnapshot({ ses_1: { type: "busy" } }, []);
    expect(activity.state).toEqual({ activity: "working", ask: null });
  });
});
