import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { createKeys, loadMasterKey } from "../../src/keys.ts";
import { modelsFile, PRICES, UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";
import { type Ask, bodyOf, type ScriptedUpstream, startUpstream } from "../helpers/upstream.ts";

const test = needs("a real Postgres", POSTGRES);
const KEY = "svc_llm_of-the-test";

let server: SessionServer;
let upstreams: ScriptedUpstream[];
let folder: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  upstreams = await Promise.all([1, 2, 3].map(() => startUpstream(UPSTREAM_KEY)));
  const [openai, second, anthropic] = upstreams;
  if (!openai || !second || !anthropic) throw new Error("no upstreams");
  folder = mkdtempSync(join(tmpdir(), "svc-models-"));
  const file = join(folder, "models.toml");
  writeFileSync(file, modelsFile({ openai, second, anthropic }));
  // a thousand calls of one session within seconds
  const rates = { SVC_LLM_SESSION_RATE: "100000", SVC_LLM_PROJECT_RATE: "100000" };
  server = await startSessionServer({ SVC_MODELS_FILE: file, ...rates });
});
afterAll(async () => {
  if (!POSTGRES) return;
  await server.stop();
  for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("calls of a killed server count with what was reported before, and with an estimated cost", async () => {
  const sql = postgres(server.databaseUrl, { max: 1 });
  const { session_id } = await server.create();
  const { account_id, project_id, created_by } = await server.becomes(session_id, "running");
  // the sandbox alone has its key: the test gives it another
  const hash = createKeys(loadMasterKey(server.dataDir)).hashToken(KEY);
  await sql`update model_keys set hash = ${hash} where session_id = ${session_id}`;
  const call = (path: string, body: unknown) =>
    fetch(`${server.url()}/v1/llm/${path}`, {
      method: "POST",
      headers: { "x-api-key": KEY },
      body: JSON.stringify(body),
    });
  const ask = { input: 800, output: 70, cached: 300 };
  const whole = await call("openai/v1/chat/completions", bodyOf("chat", "fast", ask, false));
  expect(whole.status).toBe(200);
  await whole.text();
  const held = { ...ask, holdAfter: 1 };
  const streams = await Promise.all([
    call("anthropic/v1/messages", bodyOf("messages", "claude", held, true)),
    call("openai/v1/chat/completions", bodyOf("chat", "fast", held, true)),
  ]);
  for (const { body } of streams) await body?.getReader().read();
  const noted = async () =>
    (await sql`select from model_calls where state = 'open' and input = ${ask.input}`).length === 1;
  await until("what Anthropic has reported is noted", noted);
  await server.kill();
  await server.start();
  const rows =
    await sql`select model, state, input::int, output::int, cached::int, cost from model_calls order by state, model`;
  const complete = (500 * PRICES.input + 300 * PRICES.cached + 70 * PRICES.output) / 1_000_000;
  expect([...rows]).toEqual([
    { model: "fast", state: "complete", ...ask, cost: complete },
    { model: "claude", state: "incomplete", input: 800, output: 0, cached: 300, cost: expect.any(Number) },
    { model: "fast", state: "incomplete", input: 0, output: 0, cached: 0, cost: expect.any(Number) },
  ]);
  for (const { cost } of rows) expect(cost).toBeGreaterThan(0);
  const totals = await sql`select scope, calls, input::int from model_spend order by scope`;
  const scopes = [account_id, project_id, session_id].sort();
  expect([...totals]).toEqual(scopes.map((scope) => ({ scope, calls: 3, input: 1600 })));
  expect(created_by).toBeString();
  await sql.end();
});

test("metered tokens equal the upstreams' own count when the server is killed among mixed requests", async () => {
  const sql = postgres(server.databaseUrl, { max: 1 });
  const random = generator(SEED);
  const key = `${KEY}-mixed`;
  const { session_id } = await server.create();
  await server.becomes(session_id, "running");
  // so that no sandbox takes the key back
  await server.call("POST", `/${session_id}/stop`);
  await server.becomes(session_id, "stopped");
  const hash = createKeys(loadMasterKey(server.dataDir)).hashToken(key);
  await sql`insert into model_keys (hash, session_id, project_id, account_id, user_id)
    select ${hash}, session_id, project_id, account_id, created_by from project_sessions where session_id = ${session_id}`;
  const sum = (which: "input" | "output" | "cached") =>
    upstreams.reduce((total, { counted }) => total + counted[which], 0);
  const counted = () => ({ input: sum("input"), output: sum("output"), cached: sum("cached") });
  const before = counted();
  const since = () => {
    const now = counted();
    return {
      input: now.input - before.input,
      output: now.output - before.output,
      cached: now.cached - before.cached,
    };
  };
  const metered = async () => {
    const [row] =
      await sql`select sum(input)::int as input, sum(output)::int as output, sum(cached)::int as cached
      from model_calls where session_id = ${session_id}`;
    return row;
  };
  const isEqual = async () => JSON.stringify(await metered()) === JSON.stringify(since());
  const held: Promise<unknown>[] = [];

  async function one(index: number, mayHold: boolean): Promise<void> {
    const [path, kind, model] = KINDS[random(KINDS.length)] ?? KINDS[0];
    const ask = {
      input: 10 + random(1000),
      output: random(500),
      cached: random(10),
      pieces: 1 + random(4),
      index,
    };
    const stop = new AbortController();
    const call = (extra: Ask, stream: boolean) =>
      fetch(`${server.url()}/v1/llm/${path}`, {
        method: "POST",
        headers: { "x-api-key": key },
        body: JSON.stringify(bodyOf(kind, model, { ...ask, ...extra }, stream)),
        signal: stop.signal,
      });
    const drawn = ["whole", "stream", "fail", "abort", ...(mayHold ? ["hold"] : [])][random(mayHold ? 5 : 4)];
    // whatever the seed draws, the kill interrupts one
    const how = mayHold && index === 0 ? "hold" : drawn;
    if (how === "hold" && held.length < HELD_MAX) {
      const answer = call({ holdAfter: 0 }, true);
      held.push(answer.then((response) => response.text()).catch(() => {}));
      await (await answer).body;
      return;
    }
    if (how !== "abort") {
      const answer = await call(how === "fail" ? { fail: [503] } : {}, how === "stream");
      // both upstreams of a model fail once
      const isRefused = how === "fail" && model === "both";
      expect([kind, how, answer.status]).toEqual([kind, how, isRefused ? 503 : 200]);
      await answer.text();
      return;
    }
    const answer = await call({ holdAfter: 0 }, true);
    await answer.body?.getReader().read();
    stop.abort();
  }

  const count = share(24, 1_000);
  const run = async (from: number, to: number, mayHold: boolean) => {
    let next = from;
    const work = async () => {
      while (next < to) await one(next++, mayHold);
    };
    await Promise.all(Array.from({ length: 6 }, work));
  };
  await run(0, count / 2, true);
  await until("what the upstreams have reported is noted", isEqual);
  await server.kill();
  await Promise.all(held);
  await server.start();
  await run(count / 2, count, false);
  await until("all is recorded", isEqual);
  await until(
    "no call is open",
    async () => (await sql`select from model_calls where state = 'open'`).length === 0,
  );
  const [total] =
    await sql`select calls, input::int, output::int, cached::int from model_spend where scope = ${session_id}`;
  expect({ ...total }).toEqual({ calls: count, ...since() });
  expect(held.length).toBeGreaterThan(0);
  await sql.end();
});

const KINDS = [
  ["openai/v1/chat/completions", "chat", "fast"],
  ["openai/v1/chat/completions", "chat", "both"],
  ["openai/v1/responses", "responses", "fast"],
  ["anthropic/v1/messages", "messages", "claude"],
] as const;
/** Fewer than a session may have in progress. */
const HELD_MAX = 40;
