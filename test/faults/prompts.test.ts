import { afterAll, beforeAll, expect } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { ConversationPage } from "../../src/contract/turn.ts";
import { PROMPT_STEPS, type PromptStep } from "../../src/deps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll, killAllAndWait, killIfThere } from "../helpers/processes.ts";
import { generator, SEED, sample, share } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES && process.platform === "linux");

let server: SessionServer;

beforeAll(async () => {
  if (POSTGRES) server = await startSessionServer({ SVC_SESSION_CAP: "3" });
});
afterAll(() => server?.stop());

/** The session of the tests that end no sandbox, which the first of them makes. */
let shared = "";

test(`the server is killed repeatedly while the agent works: no prompt is lost or delivered twice (seed ${SEED})`, async () => {
  const draw = generator(SEED);
  const { session_id: id } = await server.create({ initial_prompt: "!slow 700 0" });
  shared = id;
  await server.becomes(id, "running");
  const texts = Array.from({ length: 5 }, (_, index) => `!slow 700 ${index + 1}`);
  for (const text of texts) await say(id, text);
  for (let kill = 0; kill < 2; kill++) {
    await Bun.sleep(draw(1_500));
    await server.kill();
    await Bun.sleep(draw(500));
    await server.start();
  }
  await become(id, ...["", ...texts].map(() => "answered" as const));
  expect(givenTo(id)).toBe(6);
  const prompts = ["!slow 700 0", ...texts];
  expect(answersOf(id)).toEqual(prompts.map((text) => `answer to ${text}`));
  expect(await stored(id)).toEqual(prompts.map((text) => `${text} > answer to ${text} (done)`));
});

test.each(sample(1, PROMPT_STEPS).map((step) => [step] as const))(
  "the server is killed at %s: every prompt is still answered, and delivered once",
  async (step) => {
    const given = givenTo(shared);
    const reached = server.haltAt(step);
    await say(shared, "one");
    await reached;
    await server.kill();
    await server.start();
    await say(shared, "two");
    await become(shared, "answered", "answered");
    expect(givenTo(shared)).toBe(given + 2);
    const turns = (await stored(shared)).slice(-2);
    expect(turns).toEqual(["one > answer to one (done)", "two > answer to two (done)"]);
  },
);

test("an abort interrupts the running prompt, and not the next one", async () => {
  await say(shared, "!slow 60000");
  await say(shared, "!slow 2000");
  await until("it runs", async () => (await server.call("POST", `/${shared}/abort`)).status === 200);
  await become(shared, "aborted", "answered");
});

test("the runtime is killed in the middle of an answer: the prompt has the reason, and the next is answered", async () => {
  const given = givenTo(shared);
  await say(shared, "!slow 60000");
  await say(shared, "three");
  await become(shared, "running", "queued");
  await until("it was given", () => givenTo(shared) === given + 1);
  killAll(runtimeOf(shared));
  const [cut] = await become(shared, "interrupted", "answered");
  expect(cut?.error).toBe("The agent runtime restarted in the middle of the answer.");
});

test(`the runtime is killed repeatedly: each prompt ends, none is answered twice (seed ${SEED})`, async () => {
  const draw = generator(SEED);
  const known = { answers: answersOf(shared).length, turns: (await stored(shared)).length };
  const texts = Array.from({ length: 6 }, (_, index) => `!slow 600 ${index}`);
  for (const text of texts) await say(shared, text);
  for (let round = 0; round < share(2, 3); round++) {
    await Bun.sleep(draw(1_500));
    for (const { pid } of runtimeOf(shared).slice(0, 1)) killIfThere(pid);
  }
  let prompts: Prompt[] = [];
  await until(
    () => `all are over: ${JSON.stringify(prompts)}`,
    async () => {
      prompts = (await promptsOf(shared)).slice(-texts.length);
      return prompts.every(({ ended_at }) => ended_at !== null);
    },
  );
  const answers = answersOf(shared).slice(known.answers);
  expect(new Set(answers).size).toBe(answers.length);
  for (const { state, text } of prompts) {
    expect(["answered", "interrupted"]).toContain(state);
    if (state === "answered") expect(answers).toContain(`answer to ${text}`);
  }
  expect(prompts.filter(({ state }) => state === "answered").length).toBeGreaterThanOrEqual(3);
  const turns = (await stored(shared)).slice(known.turns);
  expect(new Set(turns).size).toBe(turns.length);
  for (const { state, text } of prompts)
    if (state === "answered") expect(turns).toContain(`${text} > answer to ${text} (done)`);
    else expect(turns).not.toContain(`${text} > answer to ${text} (working)`);
});

test("after a graceful shutdown the server continues with the queued prompts", async () => {
  await say(shared, "!slow 60000");
  await say(shared, "four");
  await become(shared, "running", "queued");
  await server.end();
  await server.start();
  const [cut] = await become(shared, "interrupted", "answered");
  expect(cut?.error).toMatch(/was stopped in the middle of the answer\.$/);
  expect((await server.get(shared))?.status).toBe("running");
  await removes(shared);
});

const DETECTED = [
  ["first", true],
  ["last", false],
] as const;

test.each(sample(1, DETECTED))(
  "the sandbox is killed before delivery, detected %s: the prompt waits, and is answered after a restart",
  async (_, isFoundFirst) => {
    const id = await haltedAt("prompt-marked", "one");
    await say(id, "two");
    await killAllAndWait(server.processes(id));
    if (!isFoundFirst) await server.becomes(id, "failed");
    server.go();
    await server.becomes(id, "failed");
    await become(id, "queued", "queued");
    await server.call("POST", `/${id}/restart`);
    await become(id, "answered", "answered");
    expect(givenTo(id)).toBe(2);
    await removes(id);
  },
);

test("the sandbox is killed with a prompt: the prompt has the reason, and the next is delivered after a restart", async () => {
  const id = await haltedAt("prompt-sent", "!slow 60000");
  await say(id, "two");
  killAll(server.processes(id));
  server.go();
  await server.becomes(id, "failed");
  const [cut] = await become(id, "interrupted", "queued");
  expect(cut?.error).toBe("The sandbox ended in the middle of the answer.");
  await server.call("POST", `/${id}/restart`);
  await become(id, "interrupted", "answered");
  expect(givenTo(id)).toBe(1);
  // what the first sandbox was given is stored if the server saw it before the kill, and is cut off then
  const turns = await stored(id);
  expect(turns.at(-1)).toBe("two > answer to two (done)");
  for (const turn of turns.slice(0, -1)) expect(turn).toMatch(/^!slow 60000( > .*)? \(interrupted\)$/);
  await removes(id);
});

/** A new session whose first prompt has come to this step, with the server standing still there. */
async function haltedAt(step: PromptStep, text: string): Promise<string> {
  const reached = server.haltAt(step);
  const { session_id: id } = await server.create({ initial_prompt: text });
  await reached;
  return id;
}

async function say(id: string, text: string): Promise<void> {
  const taken = await server.call("POST", `/${id}/prompt`, { text });
  expect([taken.status, taken.body?.prompt?.text]).toEqual([202, text]);
}

const runtimeOf = (id: string) =>
  server.processes(id).filter(({ command }) => /opencode serve/.test(command));

/** The prompts of a session, the first first. */
async function promptsOf(id: string): Promise<Prompt[]> {
  return ((await server.call("GET", `/${id}/prompts?limit=200`)).body?.prompts ?? []).toReversed();
}

/** The stored conversation: each turn as its prompt, its answer and its state. */
async function stored(id: string): Promise<string[]> {
  const { turns }: ConversationPage = (await server.call("GET", `/${id}/conversation?limit=200`)).body;
  return turns.map(({ state, parts }) => `${parts.map(({ text }) => text).join(" > ")} (${state})`);
}

/** Waits until the last prompts of a session are in these states. */
async function become(id: string, ...states: Prompt["state"][]): Promise<Prompt[]> {
  let last: Prompt[] = [];
  await until(
    () => `the prompts are ${states.join(", ")}, and not ${JSON.stringify(last)}`,
    async () => {
      last = (await promptsOf(id)).slice(-states.length);
      return last.map(({ state }) => state).join() === states.join();
    },
  );
  return last;
}

/** How many prompts the runtime of the session's sandbox was given. */
function givenTo(id: string): number {
  return homeFile(id, "standin.json.log")
    .split("\n")
    .filter((line) => line.startsWith("prompt ")).length;
}

/** What the runtime answered, in the order in which it did. */
function answersOf(id: string): string[] {
  const store = JSON.parse(homeFile(id, "standin.json.store"));
  const messages: { info: { role: string }; parts: { text: string }[] }[] = Object.values<[]>(
    store.messages,
  ).flat();
  return messages.filter(({ info }) => info.role === "assistant").map(({ parts }) => parts[0]?.text ?? "");
}

/** A file of the runtime's home, as it lies on the server's disk. */
function homeFile(id: string, name: string): string {
  const folder = join(server.dataDir, "sandboxes", id);
  const found = readdirSync(folder, { recursive: true }).find((path) => String(path).endsWith(`/${name}`));
  return found === undefined ? "" : readFileSync(join(folder, String(found)), "utf8");
}

async function removes(id: string): Promise<void> {
  expect((await server.call("DELETE", `/${id}`)).status).toBe(200);
}
