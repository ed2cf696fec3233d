import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { Session } from "../../src/contract/session.ts";
import { svc } from "../helpers/cli-run.ts";
import { sample } from "../helpers/random.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "40", SVC_WAITING_MINUTES: "50" } });
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

const PERMISSION = { id: "per_1", permission: "bash", patterns: ["rm *"] };
const QUESTION = {
  question: "Which one?",
  options: [
    { label: "Left", description: "" },
    { label: "Right", description: "" },
  ],
  custom: true,
};

/** A session whose agent waits. */
async function waiting(kind: "permission" | "question" = "permission") {
  const { id, runtime } = await followedSession(bench, runtimeOf);
  runtime.setBusy(true);
  const sandbox = bench.provider.sandboxes.get(id);
  if (sandbox) sandbox.health.busy = true;
  if (kind === "permission") runtime.ask(kind, PERMISSION);
  else runtime.ask(kind, { id: "que_1", questions: [QUESTION] });
  await is(id, ({ activity }) => activity === "waiting");
  return { id, runtime };
}

async function is(id: string, isSo: (session: Session) => boolean): Promise<Session> {
  let last = await bench.get(id);
  await until(
    () => `the session is as expected, and not ${JSON.stringify(last)}`,
    async () => {
      last = await bench.get(id);
      return isSo(last);
    },
  );
  return last;
}

/** Waits until svc has stopped it. */
async function freed(kind?: "permission" | "question") {
  const { id } = await waiting(kind);
  bench.advance(51 * 60);
  bench.look();
  return await bench.becomes(id, "stopped");
}

const prompts = async (id: string): Promise<Prompt[]> =>
  (await bench.call("GET", `/${id}/prompts`)).body.prompts;
const answer = (id: string, body: object) => bench.call("POST", `/${id}/answer`, { body });

describe("a session whose agent waits for a person", () => {
  test("runs for as long as is set, and then frees its slot and still waits", async () => {
    const { id } = await waiting();
    bench.advance(49 * 60);
    await bench.looked();
    expect((await bench.get(id)).status).toBe("running");
    bench.advance(2 * 60);
    bench.look();
    const stopped = await bench.becomes(id, "stopped");
    expect(stopped).toMatchObject({
      ...{ stop_reason: "waiting", activity: "waiting" },
      waiting_for: { request_id: "per_1", kind: "permission", kept: true, patterns: ["rm *"] },
    });
  });

  test("stays while a prompt is queued behind its question", async () => {
    const { id } = await waiting();
    expect((await bench.call("POST", `/${id}/prompt`, { body: { text: "next" } })).status).toBe(202);
    bench.advance(51 * 60);
    await bench.looked();
    const last = await bench.get(id);
    expect([last.status, last.waiting_for?.kept]).toEqual(["running", false]);
  });

  test("that a person stops waits for nothing", async () => {
    const { id } = await waiting();
    await bench.call("POST", `/${id}/stop`);
    const stopped = await bench.becomes(id, "stopped");
    expect([stopped.activity, stopped.waiting_for]).toEqual([null, null]);
  });
});

describe("an answer to what was asked in a sandbox that has ended", () => {
  const permissions = [
    ["permission", "per_1", "once", /permission: bash rm \*[\s\S]*allowed\. Do it again/],
    ["permission", "per_1", "reject", /not allowed\. Do not do it/],
  ] as const;
  const questions = [
    ["question", "que_1", "Right", /You asked: Which one\?[\s\S]*The answer: Right/],
    ["question", "que_1", [["Something else"]], /The answer: Something else/],
  ] as const;
  // a permission that is refused must not become one that is given
  test.each([...permissions, ...sample(1, questions)])(
    "to a %s (%s): %j starts the agent, which gets it as a prompt",
    async (kind, request_id, given, text) => {
      const { session_id: id } = await freed(kind);
      expect((await answer(id, { request_id, answer: given })).status).toBe(200);
      const [prompt] = await prompts(id);
      expect(prompt?.text).toMatch(text);
      const running = await bench.becomes(id, "running");
      expect(running.waiting_for).toBeNull();
      // the second click of two
      expect((await answer(id, { request_id, answer: given })).body.code).toBe("not_waiting");
      expect(await prompts(id)).toHaveLength(1);
    },
  );

  test("must fit the request", async () => {
    const { session_id: id } = await freed();
    expect((await answer(id, { request_id: "per_1", answer: "perhaps" })).body.code).toBe(
      "validation_failed",
    );
    expect((await answer(id, { request_id: "per_2", answer: "once" })).body.code).toBe("not_waiting");
    expect((await bench.get(id)).waiting_for?.request_id).toBe("per_1");
    expect(await prompts(id)).toEqual([]);
  });

  test("gives a permission once: the agent is not asked for it again, and for others it is", async () => {
    const { session_id: id } = await freed();
    await answer(id, { request_id: "per_1", answer: "once" });
    await bench.becomes(id, "running");
    const runtime = await restarted(id);
    runtime.setBusy(true);
    runtime.ask("permission", { ...PERMISSION, id: "per_2", patterns: ["rm -rf *"] });
    await is(id, ({ waiting_for: asked }) => asked?.request_id === "per_2");
    await answer(id, { request_id: "per_2", answer: "once" });
    runtime.ask("permission", { ...PERMISSION, id: "per_3" });
    await until("it is given", () => runtime.replies.includes("/permission/per_3/reply"));
    runtime.ask("permission", { ...PERMISSION, id: "per_4" });
    await is(id, ({ waiting_for: asked }) => asked?.request_id === "per_4");
    expect(runtime.replies).toEqual(["/permission/per_2/reply", "/permission/per_3/reply"]);
  });

  test("is given by svc sessions answer", async () => {
    const { session_id: id } = await freed("question");
    const env = {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    };
    const ran = await svc(["sessions", "answer", id, "Left"], { env });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    expect((await prompts(id))[0]?.text).toContain("The answer: Left");
  });
});

test("a prompt in place of an answer settles the question", async () => {
  const { session_id: id } = await freed();
  expect((await bench.call("POST", `/${id}/prompt`, { body: { text: "Leave it" } })).status).toBe(202);
  expect((await bench.becomes(id, "running")).waiting_for).toBeNull();
  expect((await answer(id, { request_id: "per_1", answer: "once" })).body.code).toBe("not_waiting");
});

test("a question outlives a sandbox that is killed, and a restart", async () => {
  const { id } = await waiting();
  bench.provider.sandboxes.get(id)?.die(137);
  bench.look();
  await bench.becomes(id, "failed");
  await bench.call("POST", `/${id}/restart`, { body: {} });
  await bench.becomes(id, "running");
  const again = await is(id, ({ waiting_for: asked }) => asked?.kept === true);
  expect(again).toMatchObject({ activity: "waiting", waiting_for: { request_id: "per_1" } });
  expect((await answer(id, { request_id: "per_1", answer: "once" })).status).toBe(200);
  expect(await prompts(id)).toHaveLength(1);
});

/** The runtime of the session's new sandbox, once it is followed. */
async function restarted(id: string): Promise<RuntimeHost> {
  await until("it is followed", () => runtimeOf(id).followers > 0);
  return runtimeOf(id);
}
