import { writeFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { createKeys, loadMasterKey } from "../../src/keys.ts";
import { until } from "../../test/helpers/until.ts";
import { smallFixture } from "./fixtures.ts";
import { alternate, median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import { makeRemotes } from "./remotes.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "a streamed chat through the model gateway, Postgres";
const KEY = "svc_llm_of-the-benchmark";
/** Most of them are after Postgres has made its generic plans, which takes five executions on each connection. */
const ROUNDS = 300;
const STREAMS = 200;
const STREAM_ROUNDS = 5;
const EVENTS = 1000;
/** What fast models of 2026 send a second. */
const MODEL_EVENTS_PER_S = 100;
/** The first byte at most 5 ms later, and nine tenths of the throughput. */
const MORE_MS = 5;
const THROUGHPUT_BAR = { atLeast: 0.9 };

/** The models of the upstream: one that sends as fast as it can, and one that sends at the pace of a fast model. */
const MODELS = ["m", "paced"] as const;
type Model = (typeof MODELS)[number];

/**
 * Compares a stream through the model gateway with one of the bare upstream, a server of this process: the time to the
 * first byte of one, and the bytes a second of 200 at once, as fast as they go and at the pace of a fast model.
 */
export async function models(bench: Workbench): Promise<void> {
  const database = await startPostgres(bench);
  if ("missing" in database) return bench.report.skip(WHAT, database.missing);
  const databaseUrl = await database.createDatabase();
  const upstream = startUpstream();
  bench.atEnd(() => void upstream.stop(true));
  const file = join(bench.folder("models"), "models.toml");
  const list = MODELS.map((id) => `[[upstreams.models]]\nid = "${id}"\ninput = 1\noutput = 1\n`).join("");
  writeFileSync(
    file,
    `[[upstreams]]\nid = "a"\nformat = "openai"\nurl = "${upstream.url}v1"\nkey = "k"\n${list}`,
  );
  const dataDir = bench.folder("data");
  const settings = { DATABASE_URL: databaseUrl, SVC_SANDBOX_PROVIDER: "local", SVC_MODELS_FILE: file };
  const rates = { SVC_LLM_SESSION_RATE: "1000000", SVC_LLM_PROJECT_RATE: "1000000" };
  const server = await startServer(bench, { dataDir, env: { ...settings, ...rates } });
  const remotes = await makeRemotes(bench, await smallFixture(bench));
  const { path: project } = await server.project(remotes.ours);
  const keys = await makeKeys(
    { databaseUrl, hash: (key) => createKeys(loadMasterKey(dataDir)).hashToken(key) },
    async () => await server.call<{ session_id: string }>("POST", `${project}/sessions`, {}),
  );
  const ours = (model: Model, index = 0) =>
    ask(`${server.url}/v1/llm/openai/v1`, keys[index % keys.length] ?? "", model);
  const bare = (model: Model) => ask(`${upstream.url}v1`, "k", model);

  const times = await alternate(bench, ROUNDS, {
    ours: () => firstByte(() => ours("m")),
    peer: () => firstByte(() => bare("m")),
  });
  const [own, peer] = [median(times.ours), median(times.peer)];
  bench.report.ratio({
    what: `${WHAT}, first byte`,
    unit: "ms",
    ours: own,
    peer: ["bare upstream", peer],
    bar: { atMost: Number(((peer + MORE_MS) / peer).toFixed(2)) },
  });
  const count = bench.amount(STREAMS, 4);
  for (const model of MODELS) {
    const all = (open: (index: number) => Promise<Response>) => () => throughput(count, open);
    const rate = await alternate(bench, STREAM_ROUNDS, {
      ours: all((index) => ours(model, index)),
      peer: all(() => bare(model)),
    });
    const pace = model === "paced" ? `${MODEL_EVENTS_PER_S} events a second each` : "as fast as they go";
    bench.report.ratio({
      what: `${STREAMS} streams through the model gateway, ${pace}, Postgres`,
      unit: "MB/s",
      ours: median(rate.ours),
      peer: ["bare upstream", median(rate.peer)],
      bar: THROUGHPUT_BAR,
    });
  }
  await server.stop();
}

/** @returns milliseconds. The rest of the stream is read, too, so that it does not disturb the next measurement. */
async function firstByte(open: () => Promise<Response>): Promise<number> {
  const begun = performance.now();
  const reader = (await open()).body?.getReader();
  await reader?.read();
  const ms = performance.now() - begun;
  while (reader && !(await reader.read()).done);
  return ms;
}

/** @returns megabytes a second of streams that begin together, until the last one ends. */
async function throughput(count: number, open: (index: number) => Promise<Response>): Promise<number> {
  const begun = performance.now();
  const streams = Array.from({ length: count }, async (_, index) => (await open(index)).text());
  const bytes = (await Promise.all(streams)).reduce((sum, text) => sum + text.length, 0);
  return bytes / 1_000 / (performance.now() - begun);
}

async function ask(url: string, key: string, model: Model): Promise<Response> {
  const response = await fetch(`${url}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Go on." }] }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

/** More calls at once than a session may have need several sessions. */
const SESSIONS = 4;

/** The keys of sessions, whose sandboxes are not needed: they are stopped first, so that none takes its key back. */
async function makeKeys(
  { databaseUrl, hash }: { databaseUrl: string; hash: (key: string) => string },
  create: () => Promise<{ session_id: string }>,
): Promise<string[]> {
  const db = postgres(databaseUrl, { max: 1 });
  const keys: string[] = [];
  for (let index = 0; index < SESSIONS; index++) {
    const { session_id: id } = await create();
    const isOver = async () =>
      (await db`select from runs where run_id = ${id} and status in ('running', 'failed')`).length > 0;
    await until("the session has started or failed", isOver);
    await db`delete from model_keys where session_id = ${id}`;
    const key = `${KEY}${index}`;
    await db`insert into model_keys (hash, session_id, project_id, account_id, user_id)
      select ${hash(key)}, session_id, project_id, account_id, created_by from project_sessions where session_id = ${id}`;
    keys.push(key);
  }
  await db.end();
  return keys;
}

/** Streams an event for each token, and the usage at the end. */
function startUpstream(): Bun.Server<undefined> {
  const event = (fields: object) =>
    Buffer.from(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...fields })}\n\n`,
    );
  const delta = event({ choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }] });
  const usage = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: EVENTS } });
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const isPaced = (await request.text()).includes('"paced"');
      const begun = performance.now();
      let sent = 0;
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (sent++ < EVENTS) {
            controller.enqueue(delta);
            const dueAt = begun + (sent * 1_000) / MODEL_EVENTS_PER_S;
            // each event in a packet of its own
            await Bun.sleep(isPaced ? Math.max(0, dueAt - performance.now()) : 0);
          } else {
            controller.enqueue(Buffer.concat([usage, Buffer.from("data: [DONE]\n\n")]));
            controller.close();
          }
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    },
  });
}
