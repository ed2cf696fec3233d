import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ModelBench, startModels } from "../helpers/model-bench.ts";
import { recordingOutbound } from "../helpers/recording-outbound.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { stored } from "../helpers/stored.ts";
import { until } from "../helpers/until.ts";
import { bodyOf, type ScriptedUpstream, startUpstream } from "../helpers/upstream.ts";

/** The project's own credential: searched for where it must not be. */
const OWN_KEY = "sk-own-Zk41Rw8c";
const CHAT = "openai/v1/chat/completions";

let bench: ModelBench;
let own: ScriptedUpstream;
let session: { id: string; key: string };
beforeAll(async () => {
  bench = await startModels({ env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1" } });
  own = await startUpstream(OWN_KEY);
  session = await bench.session();
});
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]();
  await own?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  for (const { id, source } of await list()) if (source === "project") await remove(id);
  own.requests.length = 0;
  bench.openai.requests.length = 0;
});

const path = (id = "") => `/v1/projects/${bench.sessions.projectId}/model-upstreams${id && `/${id}`}`;
const list = async () => (await bench.sessions.api.call("GET", path())).body.model_upstreams;
const remove = (id: string) => bench.sessions.api.call("DELETE", path(id));
const set = (id: string, body: Record<string, unknown> = {}) =>
  bench.sessions.api.call("PUT", path(id), {
    body: { format: "openai", url: own.url, key: OWN_KEY, ...body },
  });
const ask = async (model: string, index: number) => {
  const answer = await bench.call(session.key, CHAT, bodyOf("chat", model, { index }, false));
  return { status: answer.status, text: await answer.text() };
};
const listed = async (format: string): Promise<string[]> => {
  const init = { method: "GET", body: null };
  const { data } = await (await bench.call(session.key, `${format}/v1/models`, "", init)).json();
  return data.map(({ id }: { id: string }) => id);
};
/** Until a change is in force, which takes a second. */
const inForce = (model: string) =>
  until("the project's upstream is asked", async () => (await ask(model, 0)) && own.requests.length > 0);

test("a project's own upstream serves its models with its own key, which is shown nowhere", async () => {
  const made = await set("mine", { models: [{ id: "fast", name: "own-fast", input: 3, output: 4 }] });
  expect([made.status, made.body]).toEqual([
    200,
    {
      id: "mine",
      source: "project",
      overridden: false,
      format: "openai",
      url: own.url,
      models: [{ id: "fast", name: "own-fast", input: 3, output: 4 }],
      author: expect.objectContaining({ kind: "user" }),
      updated_at: expect.any(String),
    },
  ]);
  await inForce("fast");
  expect(own.requests[0]?.headers.authorization).toBe(`Bearer ${OWN_KEY}`);
  expect(JSON.parse(own.requests[0]?.body ?? "")).toMatchObject({ model: "own-fast" });
  const shown = await bench.sessions.api.call("GET", path());
  expect(shown.text).not.toContain(OWN_KEY);
  expect(await stored(bench.sessions.api)).not.toContain(OWN_KEY);
  const sandbox = bench.sessions.provider.sandboxes.get(session.id)?.environment;
  expect(JSON.stringify(sandbox)).not.toContain(OWN_KEY);
  const { usage } = await bench.usage("?group_by=model");
  expect(usage.find(({ key }) => key === "fast")?.cost).toBeCloseTo((10 * 3 + 5 * 4) / 1e6, 10);
});

test("the server's upstreams are listed without their URLs, after the project's", async () => {
  await set("zz");
  expect((await list()).map(({ id, source, url }: Record<string, unknown>) => [id, source, url])).toEqual([
    ["zz", "project", own.url],
    ["first", "server", null],
    ["second", "server", null],
    ["claude", "server", null],
  ]);
  expect((await list())[1].models).toEqual([
    { id: "fast", input: 2, output: 8, cached_input: 0.5 },
    { id: "both", input: 2, output: 8, cached_input: 0.5 },
    { id: "mapped" },
  ]);
});

test("a model that the project has itself never goes to the server's upstream, also when its own fails", async () => {
  await set("mine", { models: [{ id: "fast" }] });
  await inForce("fast");
  bench.openai.requests.length = 0;
  await set("mine", { key: "sk-wrong", models: [{ id: "fast" }] });
  await until("the wrong key is used", async () => (await ask("fast", 1)).status === 401);
  const { text } = await ask("fast", 2);
  expect(text).not.toContain("sk-wrong");
  expect(bench.openai.requests).toEqual([]);
  expect((await ask("mapped", 3)).status).toBe(200);
});

test("an upstream without models takes every model of its format, and lists its own", async () => {
  await set("any");
  await inForce("anything");
  expect(JSON.parse(own.requests[0]?.body ?? "")).toMatchObject({ model: "anything" });
  expect([await listed("openai"), await listed("anthropic")]).toEqual([["listed"], ["claude"]]);
});

test("the models of a project are listed with the server's", async () => {
  await set("mine", { models: [{ id: "fast" }, { id: "own" }] });
  await until("they are listed", async () =>
    Bun.deepEquals(await listed("openai"), ["fast", "own", "both", "mapped"]),
  );
});

test("a stored key is kept with its URL, and sent nowhere else", async () => {
  await set("mine", { models: [{ id: "own" }] });
  const other = await set("mine", { url: `${own.url}/other`, key: undefined });
  expect([other.status, other.body.code, other.body.details[0].path]).toEqual([
    400,
    "validation_failed",
    "key",
  ]);
  expect((await set("mine", { key: undefined, models: [{ id: "renamed" }] })).status).toBe(200);
  await inForce("renamed");
  expect(own.requests[0]?.headers.authorization).toBe(`Bearer ${OWN_KEY}`);
  expect((await set("new", { key: undefined })).status).toBe(400);
});

test("after its removal, the project has the server's models again", async () => {
  await set("mine", { models: [{ id: "fast" }] });
  await inForce("fast");
  expect((await remove("mine")).body).toEqual({ ok: true });
  await until("the server's upstream is asked", async () => {
    await ask("fast", 4);
    return bench.openai.requests.length > 0;
  });
  for (const id of ["mine", "first"]) {
    const { code, error } = (await remove(id)).body;
    expect([code, error]).toEqual(["not_found", expect.stringMatching(/svc models ls$/)]);
  }
});

test("the upstreams of one project serve no other", async () => {
  await set("mine", { models: [{ id: "own" }] });
  await inForce("own");
  const { project_id } = await bench.sessions.api.project(bench.sessions.remote.url);
  const made = await bench.sessions.api.call("POST", `/v1/projects/${project_id}/sessions`, { body: {} });
  const id = made.body.session_id;
  const keyOf = () => bench.sessions.provider.sandboxes.get(id)?.environment["SVC_LLM_API_KEY"];
  await until("it has a key", () => keyOf() !== undefined);
  const answer = await bench.call(keyOf() ?? "", CHAT, bodyOf("chat", "own", {}, false));
  expect([answer.status, (await answer.json()).error.code]).toEqual([404, "model_not_found"]);
});

test.each<[string, Record<string, unknown>, string]>([
  ["a format that does not exist", { format: "gemini" }, "format"],
  ["a URL with a password", { url: "https://a:b@models.example" }, "url"],
  ["a URL with a query", { url: "https://models.example/?key=1" }, "url"],
  ["no URL", { url: "models" }, "url"],
  ["a key with a line break", { key: "sk\nx" }, "key"],
  ["no models", { models: [] }, "models"],
  ["a model twice", { models: [{ id: "a" }, { id: "a" }] }, "models.1.id"],
  ["one price of two", { models: [{ id: "a", input: 1 }] }, "models.0"],
  ["a cached price alone", { models: [{ id: "a", cached_input: 1 }] }, "models.0"],
  ["a negative price", { models: [{ id: "a", input: -1, output: 1 }] }, "models.0.input"],
  ["an unknown field of a model", { models: [{ id: "a", price: 1 }] }, "models.0.price"],
  ["too many models", { models: Array.from({ length: 201 }, (_, i) => ({ id: `m${i}` })) }, "models"],
])("%s is refused", async (_, more, at) => {
  const { status, body } = await set("mine", more);
  expect([status, body.code, body.details.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    "validation_failed",
    expect.arrayContaining([at]),
  ]);
  expect((await list()).some(({ source }: { source: string }) => source === "project")).toBe(false);
});

test("an id has letters, digits, dots, dashes and underscores", async () => {
  for (const id of ["%20", "-a", "a%2Fb", "%00", "x".repeat(65)])
    expect([id, (await set(id)).status]).toEqual([id, 400]);
  expect((await set("x".repeat(64))).status).toBe(200);
});

test("a project has up to 20 upstreams; one more is refused, and a replacement is not", async () => {
  for (let i = 0; i < 20; i++) expect((await set(`u${i}`)).status).toBe(200);
  expect((await set("one-more")).body.error).toContain("svc models rm");
  expect((await set("u7", { key: undefined })).status).toBe(200);
});

test("a host that resolves to a private address is not called", async () => {
  const { outbound, resolved, connected } = recordingOutbound(() => ["169.254.169.254"]);
  await using guarded = await startModels({ deps: { outbound } });
  const { api, projectId } = guarded.sessions;
  const put = (body: Record<string, unknown>) =>
    api.call("PUT", `/v1/projects/${projectId}/model-upstreams/mine`, {
      body: { format: "openai", key: OWN_KEY, ...body },
    });
  for (const url of ["http://models.example/v1", "https://127.0.0.1/v1", "https://[::1]/v1"])
    expect([url, (await put({ url })).body.code]).toEqual([url, "url_not_allowed"]);
  expect((await put({ url: "https://models.example/v1" })).status).toBe(200);
  const { key } = await guarded.session();
  const answer = await guarded.call(key, CHAT, bodyOf("chat", "any", {}, false));
  expect([answer.status, (await answer.json()).error.code]).toEqual([502, "model_unreachable"]);
  expect([new Set(resolved), connected]).toEqual([new Set(["models.example"]), []]);
});

test("an upstream of the server that takes any model is listed as such", async () => {
  const env = { SVC_LLM_BASE_URL: "http://127.0.0.1:9/v1", SVC_LLM_API_KEY: "sk-single" };
  const sessions = await startSessions({ env });
  await using _ = { [Symbol.asyncDispose]: sessions.stop };
  const shown = await sessions.api.call("GET", `/v1/projects/${sessions.projectId}/model-upstreams`);
  expect(shown.body.model_upstreams).toEqual([
    {
      ...{ id: "default", source: "server", overridden: false, format: "openai", url: null, models: null },
      ...{ author: null, updated_at: null },
    },
  ]);
});

/** The variables of a new session's sandbox. */
async function environmentOf(sessions: SessionBench): Promise<Record<string, string>> {
  const { session_id: id } = await sessions.create();
  await sessions.becomes(id, "running");
  return sessions.provider.sandboxes.get(id)?.environment ?? {};
}

test("a session has a key, and the project's first model, if only the project has an upstream", async () => {
  const sessions = await startSessions();
  await using _ = { [Symbol.asyncDispose]: sessions.stop };
  expect((await environmentOf(sessions))["SVC_LLM_API_KEY"]).toBeUndefined();
  const body = { format: "openai", url: "https://models.example/v1", key: OWN_KEY, models: [{ id: "own" }] };
  const at = `/v1/projects/${sessions.projectId}/model-upstreams`;
  await sessions.api.call("PUT", `${at}/mine`, { body });
  await sessions.api.call("PUT", `${at}/second`, { body: { ...body, models: [{ id: "second" }] } });
  const { SVC_LLM_API_KEY: key, SVC_LLM_MODEL: model } = await environmentOf(sessions);
  expect([key, model]).toEqual([expect.stringMatching(/^svc_llm_/), "own"]);
});

test("the model of the configuration comes after the project's own, and before the server's first", async () => {
  const env = { SVC_LLM_BASE_URL: "http://127.0.0.1:9/v1", SVC_LLM_API_KEY: "sk-x", SVC_LLM_MODEL: "set" };
  const sessions = await startSessions({ env });
  await using _ = { [Symbol.asyncDispose]: sessions.stop };
  const { api, projectId } = sessions;
  const body = (id: string) => ({
    body: { format: "openai", url: "https://models.example/v1", key: OWN_KEY, models: [{ id }] },
  });
  await api.call("PUT", "/v1/server/model-upstreams/first", body("first"));
  expect((await environmentOf(sessions))["SVC_LLM_MODEL"]).toBe("set");
  // as many as the server has
  await api.call("PUT", `/v1/projects/${projectId}/model-upstreams/mine`, body("own"));
  await api.call("PUT", `/v1/projects/${projectId}/model-upstreams/second`, body("second"));
  expect((await environmentOf(sessions))["SVC_LLM_MODEL"]).toBe("own");
});
