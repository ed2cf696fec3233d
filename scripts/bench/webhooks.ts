import { createHmac } from "node:crypto";
import { renameSync } from "node:fs";
import postgres from "postgres";
import { until } from "../../test/helpers/until.ts";
import { smallFixture } from "./fixtures.ts";
import { load } from "./load.ts";
import { median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import { makeRemotes } from "./remotes.ts";
import { sendAtRate } from "./sender.ts";
import { type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "signed webhooks for 10 s, one server, Postgres";
const PER_SECOND = 1_000;
const SECONDS = 10;
const SECRET = "webhook secret";
const CAP = 5;
/** Interval of another user's requests. */
const GET_EVERY_MS = 50;
const MANIFEST = `svc_version = 1
[[triggers]]
slug = "hook"
type = "webhook"
secret_env = "HOOK_SECRET"
prompt = "{{ body.n }}"
`;

/**
 * Sends 1,000 different webhooks a second for 10 seconds. Compares the rate of responses with that of `/v1/health`, and the
 * latency of another user's GET with that on an idle server.
 * @throws Error if a webhook gets neither 202 nor 429, or if one that got 202 is not stored
 */
export async function webhooks(bench: Workbench): Promise<void> {
  const database = await startPostgres(bench);
  if ("missing" in database) return bench.report.skip(WHAT, database.missing);
  const databaseUrl = await database.createDatabase();
  const remotes = await makeRemotes(bench, await smallFixture(bench));
  await remotes.commit({ branch: "main", from: "main", files: { "svc.toml": MANIFEST } });
  const server = await startServer(bench, {
    env: { DATABASE_URL: databaseUrl, SVC_SESSION_CAP: String(CAP), SVC_SANDBOX_PROVIDER: "local" },
  });
  const { path: project } = await server.project(remotes.ours);
  await server.call("PUT", `${project}/secrets/HOOK_SECRET`, { value: SECRET });
  const hook = await webhookUrl(server, project);
  // without the repository sessions fail at once: the start of sandboxes is not measured
  renameSync(remotes.ours, `${remotes.ours}.away`);
  const raw = await load(`${server.url}/v1/health`, server.token, 32, bench.amount(2, 0.1));

  const idle = await getUntil(server, project, Bun.sleep(bench.amount(2_000, 100)));
  const url = new URL(hook);
  const count = bench.amount(PER_SECOND * SECONDS, 100);
  const sending = sendAtRate(url, makeRequests(url, count), PER_SECOND);
  const meanwhile = await getUntil(server, project, sending);
  const { statuses, seconds } = await sending;
  const db = postgres(databaseUrl, { max: 1 });
  const [row] = await db`select count(*)::int as count from trigger_firings`;
  await db.end();
  const taken = statuses.get(202) ?? 0;
  const refused = statuses.get(429) ?? 0;
  if (taken + refused !== count)
    throw new Error(`${count - taken - refused} webhooks got neither 202 nor 429`);
  if (taken !== row?.["count"]) throw new Error(`${taken} webhooks got 202, ${row?.["count"]} are stored`);
  bench.report.ratio({
    what: `${WHAT}, answered`,
    unit: "requests/s",
    ours: count / seconds,
    peer: ["GET /v1/health", raw.perSecond],
  });
  bench.report.ratio({
    what: `${WHAT}, another user's GET`,
    unit: "ms",
    ours: median(meanwhile),
    peer: ["idle server", median(idle)],
  });
  await server.stop();
}

/** Waits until svc has read the manifest. */
async function webhookUrl(server: Server, project: string): Promise<string> {
  type Triggers = { triggers: { webhook_url: string }[] };
  let url = "";
  await until("svc follows the manifest", async () => {
    const { triggers } = await server.call<Triggers>("GET", `${project}/triggers`);
    if (triggers[0]) url = server.url + new URL(triggers[0].webhook_url).pathname;
    return url !== "";
  });
  return url;
}

/** Signed requests with different bodies. */
function makeRequests(url: URL, count: number): Buffer[] {
  return Array.from({ length: count }, (_, n) => {
    const body = JSON.stringify({ n });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const lines = [
      `POST ${url.pathname} HTTP/1.1`,
      `Host: ${url.host}`,
      `X-Svc-Signature: sha256=${signature}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
  });
}

/** Sends a GET at an interval until `ended`. @returns the latencies in milliseconds */
async function getUntil(server: Server, project: string, ended: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = performance.now();
    await server.read(`${project}/sessions?limit=1`);
    times.push(performance.now() - begun);
    await Bun.sleep(GET_EVERY_MS);
  }
  return times;
}
