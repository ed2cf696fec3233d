import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { SessionEvent } from "../../src/contract/session.ts";
import { readEvents, type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "30", SVC_IDLE_TIMEOUT: "3600" } });
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onStart = () => {};
  bench.provider.onPrompt = () => ANSWERED;
});

const ANSWERED = { state: "answered", error: null } as const;
const RUNNING = { state: "running", error: null } as const;
const refusal = (status: number) => Response.json({ error: "no", code: "x" }, { status });

async function running(body: Record<string, unknown> = {}): Promise<string> {
  const { session_id: id } = await bench.create(body);
  await bench.becomes(id, "running");
  return id;
}

const post = (id: string, text: string, more: object = {}) =>
  bench.call("POST", `/${id}/prompt`, { body: { text, ...more } });

async function prompts(id: string): Promise<Prompt[]> {
  const { body } = await bench.call("GET", `/${id}/prompts`);
  return body.prompts.toReversed();
}

/** Waits until the session's prompts have these states. */
async function become(id: string, ...states: Prompt["state"][]): Promise<Prompt[]> {
  let last: Prompt[] = [];
  await until(
    () => `the prompts are ${states.join(", ")}, and not ${JSON.stringify(last)}`,
    async () => {
      last = await prompts(id);
      return last.map(({ state }) => state).join() === states.join();
    },
  );
  return last;
}

const given = (id: string) => bench.provider.sandboxes.get(id)?.prompts.map(({ text }) => text) ?? [];

describe("a prompt", () => {
  test("is queued, delivered and answered, and each of its states is reported", async () => {
    const id = await running();
    const path = `/v1/projects/${bench.projectId}/sessions/${id}/events`;
    const heard = readEvents(bench.api, path, (event) => isOver(event));
    let answer: typeof ANSWERED | typeof RUNNING = RUNNING;
    bench.provider.onPrompt = () => answer;
    const taken = await post(id, "Fix the login");
    expect(taken.status).toBe(202);
    expect(taken.body.prompt).toEqual({
      prompt_id: expect.any(String),
      session_id: id,
      number: 1,
      state: "queued",
      error: null,
      text: "Fix the login",
      answer: null,
      attachments: [],
      created_by: expect.any(String),
      author: {
        user_id: expect.any(String),
        name: expect.any(String),
        kind: "user",
        session_id: null,
      },
      created_at: expect.any(String),
      started_at: null,
      ended_at: null,
    });
    const [begun] = await become(id, "running");
    expect(begun).toMatchObject({ ended_at: null });
    const read = async () => (await bench.call("GET", `/${id}/prompts/${begun?.prompt_id}`)).body.prompt;
    await until("the sandbox has it", async () => (await read()).started_at !== null);
    answer = ANSWERED;
    const [over] = await become(id, "answered");
    expect(over).toMatchObject({ error: null, ended_at: expect.any(String) });
    const one = await bench.call("GET", `/${id}/prompts/${over?.prompt_id}`);
    expect(one.body).toEqual({ prompt: over });
    const { events } = await heard;
    const states = events.flatMap((event) => (event.type === "prompt" ? event.prompt.state : []));
    expect(states.at(-1)).toBe("answered");
    expect(states).toContain("running");
    expect(JSON.stringify(events.filter(({ type }) => type === "prompt"))).not.toContain("Fix the login");
  });

  test("that is sent again with its id is the same, and another text with that id is refused", async () => {
    const id = await running();
    const prompt_id = crypto.randomUUID();
    const all = await Promise.all(Array.from({ length: 5 }, () => post(id, "once", { prompt_id })));
    expect(all.map(({ status, body }) => [status, body.prompt.number])).toEqual(Array(5).fill([202, 1]));
    const other = await post(id, "twice", { prompt_id });
    expect([other.status, other.body.code]).toEqual([409, "prompt_exists"]);
    await become(id, "answered");
    expect(given(id)).toEqual(["once"]);
    // an id is one of its session alone
    expect((await post(await running(), "twice", { prompt_id })).status).toBe(202);
  });

  test("of the session's creation is its first", async () => {
    const { session_id: id } = await bench.create({ initial_prompt: "Begin" });
    const early = await post(id, "Go on");
    expect(early.body.prompt).toMatchObject({ number: 2, state: "queued" });
    await bench.becomes(id, "running");
    expect(await become(id, "answered", "answered")).toMatchObject([{ text: "Begin" }, { text: "Go on" }]);
    expect(given(id)).toEqual(["Begin", "Go on"]);
  });

  test("whose answer fails has the reason", async () => {
    const id = await running();
    bench.provider.onPrompt = () => ({ state: "failed", error: "The model is away." });
    await post(id, "x");
    expect(await become(id, "failed")).toMatchObject([{ error: "The model is away." }]);
    bench.provider.onPrompt = () => refusal(404);
    await post(id, "y");
    const [, refused] = await become(id, "failed", "failed");
    expect(refused?.error).toContain("another version of svc");
  });

  test("of nothing, no words, too many bytes, a zero byte or no id is refused", async () => {
    const { session_id: id } = await bench.create();
    const bodies = [
      {},
      { text: " \n" },
      { text: "ä".repeat(40_000) },
      { text: "a\0b" },
      { text: "x", prompt_id: "1" },
    ];
    for (const body of bodies) {
      const answer = await bench.call("POST", `/${id}/prompt`, { body });
      expect([body, answer.status, answer.body.code]).toEqual([body, 400, "validation_failed"]);
    }
  });
});

describe("prompts and the life of their session", () => {
  test("a stopped session is started again for it, within the cap", async () => {
    const id = await running();
    await bench.call("POST", `/${id}/stop`);
    await bench.becomes(id, "stopped");
    expect((await post(id, "Wake up")).status).toBe(202);
    await become(id, "answered");
    expect((await bench.get(id)).status).toBe("running");
    expect(bench.provider.sandboxes.get(id)?.spec.generation).toBe(2);
  });

  test("a stopping session is started again", async () => {
    const id = await running();
    let release = () => {};
    bench.provider.onCall = (method) =>
      method === "stop" ? new Promise((resolve) => (release = resolve)) : undefined;
    await bench.call("POST", `/${id}/stop`);
    await until("it is being stopped", () => release.name !== "release");
    expect((await post(id, "Not yet")).status).toBe(202);
    bench.provider.onCall = () => {};
    release();
    await become(id, "answered");
    expect((await bench.get(id)).status).toBe("running");
  });

  test("a failed session refuses prompts, says what to do, and answers the queued ones after a restart", async () => {
    const id = await running();
    bench.provider.onPrompt = () => RUNNING;
    await post(id, "one");
    await post(id, "two");
    await become(id, "running", "queued");
    bench.provider.sandboxes.get(id)?.die(137);
    bench.look();
    await bench.becomes(id, "failed");
    const [cut] = await become(id, "interrupted", "queued");
    expect(cut?.error).toBe("The sandbox ended in the middle of the answer.");
    const refused = await post(id, "three");
    expect([refused.status, refused.body.code]).toEqual([409, "session_failed"]);
    expect(refused.body.error).toContain(`svc sessions restart ${id}`);
    bench.provider.onPrompt = () => ANSWERED;
    await bench.call("POST", `/${id}/restart`);
    await become(id, "interrupted", "answered");
    expect(given(id)).toEqual(["two"]);
  });

  test.each<["stop" | "restart", string]>([
    ["stop", "The session was stopped in the middle of the answer."],
    ["restart", "The session was restarted in the middle of the answer."],
  ])("%s cuts off what runs, and leaves what waits", async (verb, error) => {
    const id = await running();
    bench.provider.onPrompt = ({ text }) => (text === "long" ? RUNNING : ANSWERED);
    await post(id, "long");
    await post(id, "next");
    await become(id, "running", "queued");
    await bench.call("POST", `/${id}/${verb}`);
    if (verb === "stop") {
      await bench.becomes(id, "stopped");
      await become(id, "interrupted", "queued");
      await bench.call("POST", `/${id}/restart`);
    }
    const [cut] = await become(id, "interrupted", "answered");
    expect(cut?.error).toBe(error);
    expect(given(id)).toEqual(["next"]);
  });

  test("a session whose start fails keeps its first prompt for the next start", async () => {
    bench.provider.onStart = () => {
      throw new Error("no");
    };
    const { session_id: id } = await bench.create({ initial_prompt: "Begin" });
    await bench.becomes(id, "failed");
    expect(await prompts(id)).toMatchObject([{ state: "queued" }]);
    bench.provider.onStart = () => {};
    await bench.call("POST", `/${id}/restart`);
    await become(id, "answered");
  });

  test("a deleted session, or another project's, has none", async () => {
    const id = await running();
    await post(id, "x");
    await bench.call("DELETE", `/${id}`);
    for (const answer of [
      await post(id, "y"),
      await bench.call("GET", `/${id}/prompts`),
      await bench.call("GET", `/${id}/prompts/${crypto.randomUUID()}`),
      await bench.call("POST", `/${id}/abort`),
    ])
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
  });

  test("a session with prompts is not idle", async () => {
    const [waiting, done] = [await running(), await running()];
    bench.provider.onPrompt = (_, { spec }) => (spec.sessionId === waiting ? refusal(409) : ANSWERED);
    await post(waiting, "x");
    await post(done, "y");
    await become(done, "answered");
    // a look at its prompts that began before the answer may note a use after it
    await until("the one that is done has stopped", async () => {
      bench.advance(7_200);
      await bench.looked();
      return (await bench.get(done)).status === "stopped";
    });
    expect((await bench.get(waiting)).status).toBe("running");
    bench.provider.onPrompt = () => ANSWERED;
    await become(waiting, "answered");
  });
});

describe("the queue", () => {
  test("is answered in order, one at a time, after interactive messages", async () => {
    const id = await running();
    let [now, most] = [0, 0];
    let isBusy = true;
    bench.provider.onPrompt = async () => {
      if (isBusy) return refusal(409);
      most = Math.max(most, ++now);
      await Bun.sleep(10);
      now--;
      return ANSWERED;
    };
    const texts = Array.from({ length: 10 }, (_, index) => `prompt ${index}`);
    for (const text of texts) await post(id, text);
    await Bun.sleep(100);
    expect((await prompts(id)).some(({ ended_at }) => ended_at)).toBe(false);
    isBusy = false;
    await become(id, ...texts.map(() => "answered" as const));
    expect(given(id)).toEqual(texts);
    expect(most).toBe(1);
  });

  test("is full at a hundred, and is listed in pages", async () => {
    const id = await running();
    bench.provider.onPrompt = () => RUNNING;
    const answers = await Promise.all(Array.from({ length: 101 }, (_, index) => post(id, `${index}`)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(100);
    const refused = answers.find(({ status }) => status !== 202);
    expect([refused?.status, refused?.body.code, refused?.body.limit]).toEqual([
      429,
      "prompt_queue_full",
      100,
    ]);
    expect(refused?.headers.get("retry-after")).toBe("60");
    const numbers: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await bench.call("GET", `/${id}/prompts?limit=40${cursor}`);
      numbers.push(...body.prompts.map(({ number }: Prompt) => number));
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
  });

  test("withdraws a queued prompt, but not a running or ended one", async () => {
    const id = await running();
    bench.provider.onPrompt = ({ text }) => (text === "long" ? RUNNING : ANSWERED);
    await post(id, "long");
    const { body } = await post(id, "mistake");
    await post(id, "last");
    const [first] = await become(id, "running", "queued", "queued");
    const withdraw = (prompt: string) => bench.call("DELETE", `/${id}/prompts/${prompt}`);
    const gone = await withdraw(body.prompt.prompt_id);
    expect(gone.body.prompt).toMatchObject({ state: "aborted", started_at: null });
    for (const prompt of [first?.prompt_id ?? "", body.prompt.prompt_id]) {
      const refused = await withdraw(prompt);
      expect([refused.status, refused.body.code]).toEqual([409, "prompt_not_queued"]);
    }
    bench.provider.onPrompt = () => ANSWERED;
    await become(id, "answered", "aborted", "answered");
    expect(given(id)).toEqual(["long", "last"]);
  });
});

test("the agent is interrupted through the daemon", async () => {
  const id = await running();
  const standIn = bench.provider.sandboxes.get(id);
  const idle = await bench.call("POST", `/${id}/abort`);
  expect([idle.status, idle.body.code]).toEqual([409, "nothing_to_abort"]);
  if (standIn) standIn.health.busy = true;
  expect((await bench.call("POST", `/${id}/abort`)).body).toEqual({ ok: true });
  expect(standIn?.aborts).toBe(2);
  await bench.call("POST", `/${id}/stop`);
  await bench.becomes(id, "stopped");
  expect((await bench.call("POST", `/${id}/abort`)).body.code).toBe("nothing_to_abort");
});

function isOver(event: SessionEvent): boolean {
  return event.type === "prompt" && event.prompt.ended_at !== null;
}
