import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { startApi } from "../helpers/api.ts";
import { type ModelBench, startModels } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { startSessions } from "../helpers/sessions.ts";
import { stored } from "../helpers/stored.ts";
import { until } from "../helpers/until.ts";
import { bodyOf, type ScriptedUpstream, startUpstream } from "../helpers/upstream.ts";

/** The credential of the operators' upstream: searched for where it must not be. */
const KEY = "sk-operator-Vt63Jp9x";
const CHAT = "openai/v1/chat/completions";

let bench: ModelBench;
let upstream: ScriptedUpstream;
let session: { id: string; key: string };
const logged: string[] = [];
beforeAll(async () => {
  const log = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  bench = await startModels({ deps: { log } });
  upstream = await startUpstream(KEY);
  session = await bench.session();
});
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id, source } of await list()) if (source === "server") await remove(id);
  upstream.requests.length = 0;
  bench.openai.requests.length = 0;
});

const path = (id = "") => `/v1/server/model-upstreams${id && `/${id}`}`;
const list = async () => (await bench.sessions.api.call("GET", path())).body.model_upstreams;
const remove = (id: string) => bench.sessions.api.call("DELETE", path(id));
const set = (id: string, body: Record<string, unknown> = {}) =>
  bench.sessions.api.call("PUT", path(id), {
    body: { format: "openai", url: upstream.url, key: KEY, ...body },
  });
const ask = async (model: string) => {
  const answer = await bench.call(session.key, CHAT, bodyOf("chat", model, {}, false));
  await answer.text();
  return answer.status;
};
/** Until a change is in force, which takes a second. */
const answers = (model: string, status: number) =>
  until(`${model} answers ${status}`, async () => (await ask(model)) === status);

test("an operator's upstream at a private address serves a project's sessions, and its key is shown nowhere", async () => {
  const made = await set("ours", { models: [{ id: "ours-1", name: "own-name", input: 3, output: 4 }] });
  expect([made.status, made.body]).toEqual([
    200,
    {
      id: "ours",
      source: "server",
      overridden: false,
      format: "openai",
      url: upstream.url,
      models: [{ id: "ours-1", name: "own-name", input: 3, output: 4 }],
      author: expect.objectContaining({ kind: "user" }),
      updated_at: expect.any(String),
    },
  ]);
  await answers("ours-1", 200);
  expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(JSON.parse(upstream.requests[0]?.body ?? "")).toMatchObject({ model: "own-name" });
  const shown = await bench.sessions.api.call("GET", path());
  expect(made.text + shown.text + logged.join("")).not.toContain(KEY);
  expect(await stored(bench.sessions.api)).not.toContain(KEY);
});

test("after its removal it is called no more", async () => {
  await set("ours", { models: [{ id: "gone" }] });
  await answers("gone", 200);
  expect((await remove("ours")).body).toEqual({ ok: true });
  await answers("gone", 404);
  const { code, error } = (await remove("ours")).body;
  expect([code, error]).toEqual(["not_found", expect.stringContaining("svc models ls --server")]);
});

test("an upstream of the configuration with the same id is used instead, and the list says so", async () => {
  await set("next", { models: [{ id: "marker" }] });
  const made = await set("first", { models: [{ id: "fast" }, { id: "hidden" }] });
  expect(made.body.overridden).toBe(true);
  await answers("marker", 200);
  upstream.requests.length = 0;
  expect([await ask("fast"), await ask("hidden")]).toEqual([200, 404]);
  expect([upstream.requests.length, bench.openai.requests.length]).toEqual([0, 1]);
  expect(
    (await list()).map(({ id, source, overridden }: Record<string, unknown>) => [id, source, overridden]),
  ).toEqual([
    ["first", "configuration", false],
    ["second", "configuration", false],
    ["claude", "configuration", false],
    ["first", "server", true],
    ["next", "server", false],
  ]);
});

test("a project lists the server's stored upstreams without their URLs, and cannot change them", async () => {
  await set("first");
  await set("ours");
  const { api, projectId } = bench.sessions;
  const at = `/v1/projects/${projectId}/model-upstreams`;
  const shown = (await api.call("GET", at)).body.model_upstreams;
  expect(
    shown.map(({ id, source, url, author }: Record<string, unknown>) => [id, source, url, author]),
  ).toEqual(["first", "second", "claude", "ours"].map((id) => [id, "server", null, null]));
  expect((await api.call("DELETE", `${at}/ours`)).status).toBe(404);
  expect((await list()).at(-1)?.id).toBe("ours");
});

test("an id with a NUL character is one that does not exist", async () => {
  const { api, projectId } = bench.sessions;
  for (const owner of ["/v1/server", `/v1/projects/${projectId}`])
    expect(await api.call("DELETE", `${owner}/model-upstreams/%00`)).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
});

test("a project's own upstream comes before the server's", async () => {
  const { api, projectId } = bench.sessions;
  const at = `/v1/projects/${projectId}/model-upstreams/own`;
  await set("ours", { models: [{ id: "shared" }] });
  await answers("shared", 200);
  const body = { format: "openai", url: "https://models.invalid", key: "k", models: [{ id: "shared" }] };
  expect((await api.call("PUT", at, { body })).status).toBe(200);
  await answers("shared", 502);
  await api.call("DELETE", at);
});

test("a stored key is kept with its URL, and sent nowhere else", async () => {
  await set("ours");
  const other = await set("ours", { url: `${upstream.url}/other`, key: undefined });
  expect([other.status, other.body.details[0].path]).toEqual([400, "key"]);
  expect((await set("ours", { key: undefined, models: [{ id: "renamed" }] })).status).toBe(200);
  await answers("renamed", 200);
  expect((await set("new", { key: undefined })).status).toBe(400);
});

test.each([
  ["a URL with a password", { url: "https://a:b@models.example" }],
  ["another scheme", { url: "file:///etc/passwd" }],
  ["one price of two", { models: [{ id: "a", input: 1 }] }],
])("%s is refused", async (_, body) => {
  expect((await set("ours", body)).body.code).toBe("validation_failed");
  expect((await list()).some(({ id }: { id: string }) => id === "ours")).toBe(false);
});

test("the server has up to 20 in the database; one more is refused, and a replacement is not", async () => {
  for (let i = 0; i < 20; i++) expect((await set(`u${i}`)).status).toBe(200);
  expect((await set("one-more")).body.error).toContain("svc models rm --server");
  expect((await set("u7", { key: undefined })).status).toBe(200);
});

test("operators are the first user, and those whom the command names, until it revokes that", async () => {
  const { api } = bench.sessions;
  const token = await api.mint("second@example.com");
  const isOperator = async (token: string) => {
    const me = await api.call("GET", "/v1/accounts/me", { token });
    const { status } = await api.call("GET", path(), { token });
    return [me.body.is_operator, status];
  };
  const name = (email: string, revoke: boolean) =>
    sendAdminCommand(api.dataDir, { verb: "operator", email, revoke });
  expect(await isOperator(api.token)).toEqual([true, 200]);
  expect(await isOperator(token)).toEqual([false, 403]);
  await name("Second@example.com", false);
  expect(await isOperator(token)).toEqual([true, 200]);
  await name("second@example.com", true);
  expect(await isOperator(token)).toEqual([false, 403]);
  await expect(name("nobody@example.com", false)).rejects.toThrow("nobody@example.com");
});

test("a session has a key, and the first model, if only the database has an upstream", async () => {
  const sessions = await startSessions();
  await using _ = { [Symbol.asyncDispose]: sessions.stop };
  const body = { format: "openai", url: "http://127.0.0.1:9/v1", key: KEY, models: [{ id: "ours" }] };
  await sessions.api.call("PUT", path("ours"), { body });
  const { session_id: id } = await sessions.create();
  await sessions.becomes(id, "running");
  const { SVC_LLM_API_KEY: key, SVC_LLM_MODEL: model } =
    sessions.provider.sandboxes.get(id)?.environment ?? {};
  expect([key, model]).toEqual([expect.stringMatching(/^svc_llm_/), "ours"]);
});

needs("a real Postgres", POSTGRES)(
  "all servers of a database use it, and stop after its removal",
  async () => {
    const { api } = bench.sessions;
    const other = await startApi({
      env: {
        DATABASE_URL: api.databaseUrl ?? "",
        SVC_MASTER_KEY: readFileSync(join(api.dataDir, "master.key"), "utf8").trim(),
      },
    });
    await using _ = { [Symbol.asyncDispose]: () => other.stop() };
    const becomes = (status: number) =>
      until(`the other server answers ${status}`, async () => {
        const answer = await fetch(`${other.url}/v1/llm/${CHAT}`, {
          method: "POST",
          headers: { Authorization: `Bearer ${session.key}`, "Content-Type": "application/json" },
          body: JSON.stringify(bodyOf("chat", "ours-1", {}, false)),
        });
        await answer.text();
        return answer.status === status;
      });
    await becomes(404);
    await set("ours", { models: [{ id: "ours-1" }] });
    await becomes(200);
    expect(upstream.requests.length).toBeGreaterThan(0);
    await remove("ours");
    await becomes(404);
  },
);
