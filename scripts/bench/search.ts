import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Database, openEmbedded, openPostgres, type Query } from "../../db/client.ts";
import { interleave } from "./measure.ts";
import { startPostgres } from "./postgres.ts";
import { type Project, type Server, startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const ROWS = 1_000_000;
const ROUNDS = 15;
const BAR = { atMost: 3 };

/** Searches of each kind: what nothing, little, much or everything of a million matches, and what has no index. */
const SEARCHES = [
  "absent",
  "quokka",
  "fix",
  "session cache",
  "zz",
  "#999999",
  "#9999999",
  "is:open",
  "is:closed quokka",
  "author:@me",
  "author:few@example.com",
  "-is:merged -is:closed fix",
  "created:<2020-01-01",
  "merged:2025-06-01..2025-06-02",
  "quokka sort:created-asc",
  "fix sort:updated-desc",
  "quokka sort:updated-asc",
  "is:open checks:failure",
];

/** Compares searches in a project of a million change requests with the same where there is only what they find, on both databases. */
export async function search(bench: Workbench): Promise<void> {
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) bench.report.skip("search, Postgres", postgres.missing);
  else {
    const url = await postgres.createDatabase();
    await searchIn(bench, "Postgres", () => openPostgres(url, { migrate: false }), { DATABASE_URL: url });
  }
  // a smoke run has the other one in its place
  if (bench.report.smoke) return;
  const dataDir = bench.folder("searched");
  await searchIn(
    bench,
    "embedded",
    () => openEmbedded(join(dataDir, "postgres"), { migrate: false }),
    {},
    dataDir,
  );
}

async function searchIn(
  bench: Workbench,
  name: string,
  open: () => Promise<Database>,
  database: Record<string, string>,
  dataDir = bench.folder("searched"),
): Promise<void> {
  const env = { ...database, SVC_MASTER_KEY: randomBytes(32).toString("hex") };
  const start = () => startServer(bench, { dataDir, env });
  const first = await start();
  const large = await first.project();
  const smalls = await Promise.all(SEARCHES.map(async (q) => ({ q, small: await first.project() })));
  await first.stop();
  await fill(bench, await open(), large, bench.amount(ROWS, 1000));
  const second = await start();
  const found = await Promise.all(
    smalls.map(async (each) => ({ ...each, numbers: await numbersOf(second, large, each.q) })),
  );
  await second.stop();
  await copy(await open(), large, found);
  const server = await start();
  for (const { q, small } of smalls) {
    const what = `search ${q}, ${name}`;
    const times = await interleave(bench, ROUNDS, () => [
      { large: () => server.read(pageOf(large, q)) },
      { small: () => server.read(pageOf(small, q)) },
    ]);
    bench.report.ratio({ what, unit: "ms", ours: times.large, peer: ["found alone", times.small], bar: BAR });
  }
  await server.stop();
}

const pageOf = ({ path }: Project, q: string): string =>
  `${path}/change-requests?${new URLSearchParams({ q, limit: "50" })}`;

async function numbersOf(server: Server, project: Project, q: string): Promise<number[]> {
  const page = await server.call<{ change_requests: { number: number }[] }>("GET", pageOf(project, q));
  return page.change_requests.map(({ number }) => number);
}

/** Gives each search a project that has only what it found, so that both sides answer the same. */
async function copy(
  database: Database,
  { id }: Project,
  found: readonly { small: Project; numbers: readonly number[] }[],
): Promise<void> {
  const columns = `account_id, number, title, base_ref, head_ref, status, created_by, head_commit_sha, base_commit_sha,
    merge_commit_sha, merged_at, closed_at, created_at, updated_at`;
  await database.transact("write", async (query) => {
    for (const { small, numbers } of found)
      await query(`insert into change_requests (project_id, ${columns}) select '${small.id}', ${columns}
        from change_requests where project_id = '${id}' and number in (${[0, ...numbers].join(", ")})`);
  });
  await database.close();
}

async function fill(bench: Workbench, database: Database, { id }: Project, rows: number): Promise<void> {
  const begun = performance.now();
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
  const say = (text: string) =>
    bench.report.smoke || process.stderr.write(`bench: ${text} in ${seconds()} s\n`);
  await database.transact("write", async (query) => {
    const [index] = await query("select indexdef from pg_indexes where indexname = 'change_requests_terms'");
    await query("drop index change_requests_terms");
    await insert(query, id, rows);
    say(`inserted ${rows} change requests`);
    await query(String(index?.["indexdef"]));
    say("and indexed them");
  });
  await database.close();
}

/** One of 10,000 is by somebody else, and has the rare word; one in 100 is open. */
async function insert(query: Query, projectId: string, rows: number): Promise<void> {
  await query("insert into users (email, name) values ('few@example.com', 'Few')");
  await query(`insert into account_members (account_id, user_id, role)
    select account_id, (select user_id from users where email = 'few@example.com'), 'member' from projects where project_id = '${projectId}'`);
  await query(`insert into change_requests (account_id, project_id, number, title, base_ref, head_ref, status, created_by,
      head_commit_sha, base_commit_sha, merge_commit_sha, merged_at, closed_at, created_at, updated_at)
    select account_id, project_id, n,
      (array['Fix', 'Add', 'Remove', 'Improve', 'Refactor', 'Update'])[1 + n % 6] || ' the ' ||
      (array['login', 'session', 'cache', 'parser', 'page', 'gateway', 'merge'])[1 + n % 7] || ' of the ' ||
      (array['account', 'user', 'cache', 'branch', 'token'])[1 + n % 5] ||
      case when n % 10000 = 17 then ' quokka' else '' end,
      'main', 'work-' || n,
      (case when n % 100 = 1 then 'open' when n % 100 < 20 then 'closed' else 'merged' end)::cr_status,
      (select user_id from users where email = case when n % 10000 = 17 then 'few@example.com' else 'bench@example.com' end),
      lpad(to_hex(n), 40, 'a'), lpad(to_hex(n), 40, 'b'), lpad(to_hex(n), 40, 'c'),
      case when n % 100 >= 20 then at + interval '1 hour' end,
      case when n % 100 < 20 and n % 100 <> 1 then at + interval '1 hour' end, at, at + n % 1000 * interval '1 hour'
    from projects, generate_series(1, ${rows}) n, lateral (select timestamptz '2024-11-28' + n * interval '1 minute' as at) t
    where project_id = '${projectId}'`);
}
