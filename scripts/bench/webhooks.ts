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
/** How often somebody else asks for something meanwhile. */
const LOOK_MS = 50;
const MANIFEST = `svc_version = 1
[[triggers]]
slug = "hook"
type = "webhook"
secret_env = "HOOK_SECRET"
prompt = "{{ body.n }}"
`;

/**
 * 1,000 webhooks a second for 10 seconds, each another one: which are taken and which refused, whether each that was taken
 * is there, and how long others wait for an answer meanwhile. Beside it, what the same client gets of `/v1/health`.
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
  const hook = await followed(server, project);
  // sessions end at once: what is measured is not the start of sandboxes
  renameSync(remotes.ours, `${remotes.ours}.away`);
  const raw = await load(`${server.url}/v1/health`, server.token, 32, bench.amount(2, 0.1));

  const url = new URL(hook);
  const count = bench.amount(PER_SECOND * SECONDS, 100);
  const sending = sendAtRate(url, makeRequests(url, count), PER_SECOND);
  const looks = await lookMeanwhile(server, project, sending);
  const { statuses, sent, seconds } = await sending;
  const db = postgres(databaseUrl, { max: 1 });
  const [row] = await db`select count(*)::int as count from trigger_firings`;
  await db.end();
  const taken = statuses.get(202) ?? 0;
  const refused = statuses.get(429) ?? 0;
  bench.report.figure({ what: `${WHAT}, sent`, unit: "requests/s", ours: count / sent });
  bench.report.ratio({
    what: `${WHAT}, answered until the last answer`,
    unit: "requests/s",
    ours: (count - (statuses.get(0) ?? 0)) / seconds,
    peer: ["health, as fast as it goes", raw.perSecond],
  });
  bench.report.figure({
    what: `${WHAT}, neither taken (${taken}) nor refused (${refused})`,
    unit: "requests",
    ours: count - taken - refused,
    bar: { atMost: 0 },
  });
  bench.report.figure({
    what: `${WHAT}, taken and lost`,
    unit: "requests",
    ours: taken - Number(row?.["count"]),
    bar: { atMost: 0 },
  });
  bench.report.figure({
    what: `${WHAT}, the median of another's GET`,
    unit: "ms",
    ours: median(looks),
    bar: { atMost: 100 },
  });
  await server.stop();
}

/** Waits until svc has read the manifest. */
async function followed(server: Server, project: string): Promise<string> {
  type Triggers = { triggers: { webhook_url: string }[] };
  let url = "";
  await until("svc follows the manifest", async () => {
    const { triggers } = await server.call<Triggers>("GET", `${project}/triggers`);
    if (triggers[0]) url = server.url + new URL(triggers[0].webhook_url).pathname;
    return url !== "";
  });
  return url;
}

/** Each another one, with its signature. */
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

async function lookMeanwhile(server: Server, project: string, ended: Promise<unknown>): Promise<number[]> {
  const looks: number[] = [];
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = performance.now();
    await server.read(`${project}/sessions?limit=1`);
    looks.push(performance.now() - begun);
    await Bun.sleep(LOOK_MS);
  }
  return looks;
}
