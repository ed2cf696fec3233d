import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { UsageRow } from "../../src/contract/usage.ts";
import { svc } from "../helpers/cli-run.ts";
import { openBrowser } from "../helpers/cookie-browser.ts";
import { type ModelBench, PRICES, startModels } from "../helpers/model-bench.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";
import { bodyOf } from "../helpers/upstream.ts";

let bench: ModelBench;

beforeAll(async () => {
  bench = await startModels();
});
afterAll(() => bench[Symbol.asyncDispose]());

const CHAT = "openai/v1/chat/completions";
const chat = (key: string, ask: Parameters<typeof bodyOf>[2], stream = false, init?: RequestInit) =>
  bench.call(key, CHAT, bodyOf("chat", "fast", ask, stream), init);
const used = (rows: readonly UsageRow[], key: string | null) => rows.find((row) => row.key === key);

/** Of the prices of `PRICES`, US dollars. */
const cost = (input: number, output: number, cached = 0) =>
  ((input - cached) * PRICES.input + cached * PRICES.cached + output * PRICES.output) / 1_000_000;

describe("the usage of an account", () => {
  test("is grouped by day, project, session, user and model; a session has its own", async () => {
    const [one, two] = [await bench.session(), await bench.session()];
    await (await chat(one.key, { input: 1000, output: 100, cached: 400 })).text();
    await (await chat(one.key, { input: 500, output: 50 }, true)).text();
    const claude = bodyOf("messages", "claude", { input: 300, output: 30, cached: 100 }, true);
    await (await bench.call(two.key, "anthropic/v1/messages", claude)).text();
    await (await bench.call(two.key, CHAT, bodyOf("chat", "mapped", { input: 7, output: 8 }, false))).text();

    const { usage, total } = await bench.usage("?group_by=session");
    expect(used(usage, one.id)).toMatchObject({
      calls: 2,
      incomplete: 0,
      unpriced: 0,
      tokens: { input: 1500, output: 150, cached: 400 },
      cost: expect.closeTo(cost(1500, 150, 400), 9),
    });
    expect(used(usage, two.id)).toMatchObject({
      calls: 2,
      unpriced: 1,
      tokens: { input: 307, output: 38, cached: 100 },
      cost: expect.closeTo(cost(300, 30, 100), 9),
    });
    expect(total).toMatchObject({ calls: 4, tokens: { input: 1807, output: 188, cached: 500 } });
    const models = (await bench.usage("?group_by=model")).usage.map(({ key, calls }) => [key, calls]);
    expect(models).toEqual([
      ["fast", 2],
      ["claude", 1],
      ["mapped", 1],
    ]);
    for (const group of ["day", "project", "user"])
      expect((await bench.usage(`?group_by=${group}`)).usage).toMatchObject([{ calls: 4 }]);
    const session = await bench.sessions.get(one.id);
    expect(session).toMatchObject({ tokens: { input: 1500, output: 150, cached: 400 } });
    expect(session.cost).toBeCloseTo(cost(1500, 150, 400), 9);
    expect(await bench.sessions.get(two.id)).toMatchObject({ tokens: { input: 307 } });

    await bench.sessions.call("DELETE", `/${one.id}`);
    const deleted = async () => used((await bench.usage("?group_by=session")).usage, null)?.calls === 2;
    await until("the deleted session's calls remain", deleted);
  });

  test("is of the time that is asked for, and only for members", async () => {
    const { api } = bench.sessions;
    const path = `/v1/accounts/${bench.accountId}/usage`;
    expect((await bench.usage("?until=2020-01-01T00:00:00Z")).total).toMatchObject({ calls: 0, cost: null });
    expect(
      await api.call("GET", `${path}?since=2021-01-01T00:00:00Z&until=2020-01-01T00:00:00Z`),
    ).toMatchObject({
      status: 400,
    });
    expect(await api.call("GET", `${path}?group_by=prompt`)).toMatchObject({ status: 400 });
    const stranger = await api.mint("stranger@example.com");
    expect(await api.call("GET", path, { token: stranger })).toMatchObject({ status: 403 });
  });

  test("is printed by svc usage", async () => {
    const { api } = bench.sessions;
    const env = { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token };
    const run = (...args: string[]) => svc(["usage", ...args], { env });
    const { usage, total } = await bench.usage("?group_by=model");
    const { stdout, code } = await run("--by", "model");
    expect([code, stdout]).toEqual([
      0,
      usage
        .map(({ key, calls, tokens: { input, cached, output }, cost }) =>
          [`${key}\t${calls}\t${input}\t${cached}\t${output}\t${cost ?? ""}\n`].join(),
        )
        .join(""),
    ]);
    expect(JSON.parse((await run("--json")).stdout)).toMatchObject({ group_by: "day", total });
    const early = await run("--until", "2020-01-01");
    expect([early.code, early.stdout, early.stderr]).toEqual([
      0,
      "",
      expect.stringContaining("No model calls"),
    ]);
    expect(await run("--since", "yesterday")).toMatchObject({ code: 2 });
    expect(await run("--by", "prompt")).toMatchObject({ code: 2 });
    expect(await run("--account", "nobody")).toMatchObject({ code: 1 });
  });

  test("of calls that end early is what the upstream had reported, and an estimated cost", async () => {
    const { id, key } = await bench.session();
    const stop = new AbortController();
    const body = bodyOf("messages", "claude", { input: 900, output: 90, pieces: 3, holdAfter: 2 }, true);
    const answer = await bench.call(key, "anthropic/v1/messages", body, {
      signal: stop.signal,
      headers: { "x-api-key": key },
    });
    await bench.anthropic.waits();
    const reader = answer.body?.getReader();
    await reader?.read();
    stop.abort();
    await reader?.read().catch(() => {});
    await until("the call is over", async () => (await bench.sessions.get(id)).tokens.input > 0);
    bench.anthropic.go();
    const row = used((await bench.usage("?group_by=session")).usage, id);
    expect(row).toMatchObject({ calls: 1, incomplete: 1, tokens: { input: 900, output: 0 } });
    // two or three events have passed
    expect(row?.cost).toBeGreaterThan(cost(900, 0));
    expect(row?.cost).toBeLessThan(cost(900, 10));
  });
});

test("metered tokens equal the upstreams' own count, whatever becomes of the responses", async () => {
  const random = generator(SEED);
  const upstreams = [bench.openai, bench.second, bench.anthropic];
  const sum = (which: "input" | "output" | "cached") =>
    upstreams.reduce((total, { counted }) => total + counted[which], 0);
  const counted = () => ({ input: sum("input"), output: sum("output"), cached: sum("cached") });
  const { id, key } = await bench.session();
  const before = counted();
  const count = share(30, 1_000);
  const KINDS = [
    [CHAT, "chat", "fast"],
    [CHAT, "chat", "both"],
    ["openai/v1/responses", "responses", "fast"],
    ["openai/v1/embeddings", "embeddings", "fast"],
    ["anthropic/v1/messages", "messages", "claude"],
  ] as const;

  async function one(index: number): Promise<void> {
    const kind = KINDS[random(KINDS.length)];
    if (!kind) throw new Error("no kind");
    const [path, name, model] = kind;
    const input = 10 + random(1000);
    const ask = { input, output: random(500), cached: random(10), pieces: 1 + random(4), index };
    const how = ["whole", "stream", "abort", "drop", "fail"][random(5)];
    if (how === "abort" && name !== "embeddings") return await abort(path, name, model, ask);
    const stream = how !== "whole" && name !== "embeddings";
    // Anthropic's first event has a usage, which is lost if it is not delivered
    const drops = how === "drop" && stream && name !== "messages";
    const extra = { ...(drops && { dropAfter: 0 }), ...(how === "fail" && { fail: [503] }) };
    const answer = await bench.call(key, path, bodyOf(name, model, { ...ask, ...extra }, stream));
    await answer.text().catch(() => {});
  }

  /** Disconnects while the upstream waits, after its first event. */
  async function abort(
    path: string,
    name: string,
    model: string,
    ask: Parameters<typeof bodyOf>[2],
  ): Promise<void> {
    const stop = new AbortController();
    const body = bodyOf(name, model, { ...ask, holdAfter: 0 }, true);
    const answer = await bench.call(key, path, body, { signal: stop.signal });
    await answer.body?.getReader().read();
    stop.abort();
  }

  const rest = Array.from({ length: count }, (_, index) => index);
  const work = async () => {
    for (let index = rest.shift(); index !== undefined; index = rest.shift()) await one(index);
  };
  await Promise.all(Array.from({ length: 6 }, work));
  const calls = async () => used((await bench.usage("?group_by=session")).usage, id);
  await until("all calls are over", async () => {
    const { tokens } = await bench.sessions.get(id);
    return (
      JSON.stringify(tokens) === JSON.stringify((await calls())?.tokens) &&
      upstreams.every(({ open }) => open === 0)
    );
  });
  const now = counted();
  expect(await calls()).toMatchObject({
    calls: count,
    tokens: {
      input: now.input - before.input,
      output: now.output - before.output,
      cached: now.cached - before.cached,
    },
  });
});

describe("a budget", () => {
  test("of an account, a project or a session ends its calls with 402, before they are sent", async () => {
    const paths = [`/v1/accounts/${bench.accountId}`, `/v1/projects/${bench.sessions.projectId}`];
    for (const path of paths) {
      for (const field of ["model_budget", "model_session_budget"]) {
        const { id, key } = await bench.session();
        const set = async (value: number | null) =>
          await bench.sessions.api.call("PATCH", path, { body: { [field]: value } });
        const { total } = await bench.usage();
        const limit = (field === "model_budget" ? (total.cost ?? 0) : 0) + cost(1500, 0);
        expect(await set(limit)).toMatchObject({ status: 200, body: { [field]: limit } });
        const statuses: number[] = [];
        for (let call = 0; call < 3; call++)
          statuses.push((await chat(key, { input: 1000, output: 0 })).status);
        expect([path, field, ...statuses]).toEqual([path, field, 200, 200, 402]);
        const before = bench.openai.requests.length;
        const refused = await chat(key, {}, true);
        expect(await refused.json()).toMatchObject({ error: { code: "budget_exceeded" } });
        expect(bench.openai.requests).toHaveLength(before);
        expect((await bench.sessions.get(id)).tokens.input).toBe(2000);
        await set(null);
        expect((await chat(key, {})).status).toBe(200);
      }
    }
  });

  test("of zero allows no call", async () => {
    await using fresh = await startModels();
    const { key } = await fresh.session();
    const { api, projectId } = fresh.sessions;
    for (const path of [`/v1/accounts/${fresh.accountId}`, `/v1/projects/${projectId}`])
      for (const field of ["model_budget", "model_session_budget"]) {
        await api.call("PATCH", path, { body: { [field]: 0 } });
        const { status } = await fresh.call(key, CHAT, bodyOf("chat", "fast", {}, false));
        expect([path, field, status]).toEqual([path, field, 402]);
        await api.call("PATCH", path, { body: { [field]: null } });
      }
    expect(fresh.openai.requests).toEqual([]);
  });

  test("counts calls in progress by an estimate", async () => {
    const { key } = await bench.session();
    const path = `/v1/projects/${bench.sessions.projectId}`;
    // the prompt of the call below is estimated at more than this
    await bench.sessions.api.call("PATCH", path, { body: { model_session_budget: cost(10, 0) } });
    const running = chat(key, { holdAfter: 0 });
    await bench.openai.waits();
    expect((await chat(key, {})).status).toBe(402);
    bench.openai.go();
    expect((await running).status).toBe(200);
    await bench.sessions.api.call("PATCH", path, { body: { model_session_budget: null } });
  });

  test("is set by owners and admins only", async () => {
    const { api, projectId } = bench.sessions;
    const invited = { email: "member@example.com", role: "member" };
    const made = await api.call("POST", `/v1/accounts/${bench.accountId}/invitations`, { body: invited });
    const token = new URL(made.body.url).searchParams.get("token") ?? "";
    const member = openBrowser(api);
    const link = { token, name: "Member", password: "a long enough password" };
    expect(await member.call("POST", "/v1/auth/link", { body: link })).toMatchObject({ status: 200 });
    for (const path of [`/v1/accounts/${bench.accountId}`, `/v1/projects/${projectId}`]) {
      for (const body of [{ model_budget: 1 }, { model_session_budget: null }])
        expect((await member.call("PATCH", path, { body })).status).toBe(403);
    }
    for (const model_budget of [-1, "1", Number.MAX_VALUE])
      expect((await api.call("PATCH", `/v1/projects/${projectId}`, { body: { model_budget } })).status).toBe(
        400,
      );
  });
});

test("requests a minute are limited, by session and by project", async () => {
  await using limited = await startModels({ env: { SVC_LLM_SESSION_RATE: "3", SVC_LLM_PROJECT_RATE: "5" } });
  const [one, two] = [await limited.session(), await limited.session()];
  // so that no minute ends during the test
  limited.sessions.advance(60 - (Math.floor(Date.now() / 1000) % 60));
  const ask = async (key: string) => await limited.call(key, CHAT, bodyOf("chat", "fast", {}, false));
  const statuses: number[] = [];
  for (const { key } of [one, one, one, one, two, two, two]) statuses.push((await ask(key)).status);
  expect(statuses).toEqual([200, 200, 200, 429, 200, 200, 429]);
  const refused = await ask(one.key);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limited" } });
  limited.sessions.advance(60);
  expect((await ask(one.key)).status).toBe(200);
});
