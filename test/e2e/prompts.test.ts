import { afterAll, beforeAll, expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type ScriptedModel, startModel } from "../helpers/model.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { MODEL, RUNTIME, RUNTIME_NAME, runtimeEnvironment } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const test = needs(RUNTIME_NAME, RUNTIME !== null);

/** Prompts from outside, from the API down to the real agent runtime in a local sandbox. */
let api: Api;
let model: ScriptedModel;
let remote: Remote;
let session: string;

beforeAll(async () => {
  if (RUNTIME === null) return;
  model = await startModel();
  const { SVC_OPENCODE_MODEL, ...env } = runtimeEnvironment(model);
  api = await startApi({ env: { ...env, SVC_SANDBOX_PROVIDER: "local" } });
  remote = new Remote();
  remote.commit("main", { "a.txt": "1\n" });
  const { project_id } = await api.project(remote.url);
  const sessions = `/v1/projects/${project_id}/sessions`;
  const initial_prompt = "!run echo 1 >> said.txt\n!say First.";
  const made = await api.call("POST", sessions, { body: { model: MODEL, initial_prompt } });
  session = `${sessions}/${made.body.session_id}`;
}, 60_000);
afterAll(async () => {
  await api?.stop();
  remote?.remove();
  await model?.[Symbol.asyncDispose]();
}, 60_000);

const say = async (text: string): Promise<Prompt> =>
  (await api.call("POST", `${session}/prompt`, { body: { text } })).body.prompt;

/** Waits until the session's prompts have these states. */
async function become(...states: Prompt["state"][]): Promise<Prompt[]> {
  let last: Prompt[] = [];
  await until(
    () => `the prompts are ${states.join(", ")}, and not ${JSON.stringify(last)}`,
    async () => {
      last = (await api.call("GET", `${session}/prompts`)).body.prompts.toReversed();
      return last.map(({ state }) => state).join() === states.join();
    },
    90_000,
  );
  return last;
}

const runtime = async (method: string, path: string, body?: unknown) => {
  const id = session.slice(session.lastIndexOf("/") + 1);
  return (await api.call(method, `/v1/p/${id}/8000${path}`, body === undefined ? {} : { body })).body;
};

test("the first prompt and those after it are answered in order, in the session's one conversation", async () => {
  // while it still starts
  await say("!run echo 2 >> said.txt\n!say Second.");
  await say("!fail 401");
  await say("!run echo 4 >> said.txt\n!run git add -A && git commit -qm Said && git push -q origin HEAD");
  const [, , failed] = await become("answered", "answered", "failed", "answered");
  expect(failed?.error).toBe("It fails as it was told to.");
  const { conversation } = await runtime("GET", "/svc/health");
  expect(await runtime("GET", "/session")).toMatchObject([{ id: conversation, title: "svc" }]);
  const id = session.slice(session.lastIndexOf("/") + 1);
  expect(remote.git("show", `${id}:said.txt`).trim()).toBe("1\n2\n4");
}, 120_000);

test("a person who chats is waited for, a question that nobody answers is aborted, and the next goes on", async () => {
  const { conversation } = await runtime("GET", "/svc/health");
  const parts = [{ type: "text", text: "!slow 200 a b c d e f g h\n!say Mine." }];
  await runtime("POST", `/session/${conversation}/prompt_async`, { parts });
  await say("!ask Which one? | Left | Right");
  await say("!say Last.");
  await until("it asks", async () => (await runtime("GET", "/question")).length === 1, 60_000);
  const messages: { info: { role: string }; parts: { type: string; text?: string }[] }[] = await runtime(
    "GET",
    `/session/${conversation}/message`,
  );
  const texts = messages.flatMap(({ parts: all }) => all.flatMap(({ text }) => text ?? [])).join("\n");
  expect(texts).toContain("Mine.");
  expect((await api.call("POST", `${session}/abort`)).status).toBe(200);
  await become("answered", "answered", "failed", "answered", "aborted", "answered");
}, 120_000);
