import { createHmac } from "node:crypto";
import { renameSync } from "node:fs";
import postgres from "postgres";
import { smallFixture } from "./fixtures.ts";
import { load } from "./load.ts";
import { median } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import { makeRemotes } from "./remotes.ts";
import { type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "signed webhooks for 10 s, one server, Postgres";
const PER_SECOND = 1_000;
const SECONDS = 10;
const SECRET = "webhook secret";
const CAP = 5;
/** How often somebody else asks for something meanwhile. */
const LOOK_MS = 50;
/** Answers outstanding past this many are those of a sender that has given up. */
const UNANSWERED_MAX = 5_000;
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
  const url = await database.createDatabase();
  const remotes = await makeRemotes(bench, await smallFixture(bench));
  await remotes.commit({ branch: "main", from: "main", files: { "svc.toml": MANIFEST } });
  const server = await startServer(bench, {
    env: { DATABASE_URL: url, SVC_SESSION_CAP: String(CAP), SVC_SANDBOX_PROVIDER: "local" },
  });
  const project = (await server.project(remotes.ours)).replace("/change-requests", "");
  await server.call("PUT", `${project}/secrets/HOOK_SECRET`, { value: SECRET });
  const hook = await followed(server, project);
  // sessions end at once: what is measured is not the start of sandboxes
  renameSync(remotes.ours, `${remotes.ours}.away`);
  const raw = await load(`${server.url}/v1/health`, server.token, 32, 2);

  const sending = send(hook);
  const looks = await lookMeanwhile(server, project, sending);
  const { statuses, perSecond } = await sending;
  const db = postgres(url, { max: 1 });
  const [row] = await db`select count(*)::int as count from trigger_firings`;
  await db.end();
  const taken = statuses.get(202) ?? 0;
  const refused = statuses.get(429) ?? 0;
  bench.report.ratio({
    what: `${WHAT}, answered`,
    unit: "requests/s",
    ours: perSecond,
    peer: ["health, as fast as it goes", raw.perSecond],
  });
  bench.report.figure({
    what: `${WHAT}, neither taken (${taken}) nor refused (${refused})`,
    unit: "requests",
    ours: PER_SECOND * SECONDS - taken - refused,
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

async function followed(server: Server, project: string): Promise<string> {
  for (;;) {
    type Triggers = { triggers: { webhook_url: string }[] };
    const { triggers } = await server.call<Triggers>("GET", `${project}/triggers`);
    const [trigger] = triggers;
    if (trigger) return server.url + new URL(trigger.webhook_url).pathname;
    await Bun.sleep(50);
  }
}

/** Sends at the rate, whether the answers come or not. */
async function send(url: string) {
  const statuses = new Map<number, number>();
  const begun = performance.now();
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const one = async (n: number) => {
    const body = JSON.stringify({ n });
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    const headers = { "X-Svc-Signature": `sha256=${signature}` };
    const response = await fetch(url, { method: "POST", headers, body });
    await response.arrayBuffer();
    count(response.status);
  };
  const under: Promise<void>[] = [];
  let answered = 0;
  for (let n = 0; n < PER_SECOND * SECONDS; n++) {
    const wait = begun + (n * 1000) / PER_SECOND - performance.now();
    if (wait > 1) await Bun.sleep(wait);
    while (n - answered > UNANSWERED_MAX) await Bun.sleep(1);
    const ended = one(n).catch(() => void count(0));
    under.push(ended.finally(() => answered++));
  }
  await Promise.all(under);
  const seconds = (performance.now() - begun) / 1000;
  return { statuses, perSecond: (PER_SECOND * SECONDS) / seconds };
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
