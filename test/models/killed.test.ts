import { afterAll, beforeAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { createKeys, loadMasterKey } from "../../src/keys.ts";
import { modelsFile, PRICES, UPSTREAM_KEY } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";
import { bodyOf, type ScriptedUpstream, startUpstream } from "../helpers/upstream.ts";

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
  server = await startSessionServer({ SVC_MODELS_FILE: file });
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
