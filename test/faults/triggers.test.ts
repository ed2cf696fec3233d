import { expect } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import postgres from "postgres";
import { nextDue } from "../../src/contract/cron.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { caller, makeFolder, spawnServer } from "../helpers/api.ts";
import { LEFT_ALONE } from "../helpers/halting.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { serverCommand } from "../helpers/server-command.ts";
import { cron } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const SERVERS = 3;
const [START, END] = [Date.UTC(2026, 0, 1, 0, 0, 30), Date.UTC(2027, 0, 1)];
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** Jumps that pass a year in a quarter of the steps. */
const LONG_JUMPS = share(3, 0);
/** How far the clock goes at a time: most of the year is slept through, some of it is lived minute by minute. */
const JUMPS = [
  ...[MINUTE / 2, MINUTE, 10 * MINUTE, 61 * MINUTE, 7 * HOUR, 2 * DAY, 6 * DAY, 14 * DAY],
  ...[30 * DAY, 45 * DAY, 60 * DAY].slice(0, LONG_JUMPS),
];
/** Where it stops in any case: right after times at which each trigger is due, where clocks change and elsewhere. */
const STOPS = [
  "2026-03-08T07:00:20Z",
  "2026-04-04T14:45:20Z",
  "2026-06-01T09:00:20Z",
  "2026-11-01T07:30:20Z",
  "2027-01-01T00:00:00Z",
].map((time) => Date.parse(time));
/** One firing in so many ends its server; and so do one jump in so many, and each stop. */
const DIES_OF = 20;
const KILLED_OF = share(20, 10);
const TRIGGERS = {
  minutely: ["* * * * *", "UTC"],
  daily: ["0 9 * * *", "UTC"],
  spring: ["30 2 * * *", "America/New_York"],
  autumn: ["15,45 1 * * *", "Australia/Lord_Howe"],
} as const;

interface Row {
  seq: string;
  slug: string;
  state: string;
  due_at: Date;
  due_until: Date | null;
  session_id: string | null;
}

test(`over a year with three servers killed at random, each due time fires once or is reported as missed`, async () => {
  const database = await createDatabase();
  const db = postgres(database.url, { max: 1, onnotice() {} });
  const remote = new Remote();
  let now = START;
  const setClock = async () => {
    await db`update test_clock set at = ${new Date(now)}`;
    await db`select pg_notify('svc_events', '{"type":"trigger"}')`;
  };
  await db`create table test_clock as select ${new Date(now)}::timestamptz as at`;
  const folders = Array.from({ length: SERVERS }, makeFolder);
  const command = serverCommand("trigger");
  const [random, seeds] = [generator(SEED), generator(SEED + 1)];
  const spawn = (dataDir: string) =>
    spawnServer(command, {
      SVC_PORT: "0",
      SVC_DATA_DIR: dataDir,
      SVC_MASTER_KEY: "ab".repeat(32),
      SVC_ALLOW_PRIVATE_REPOS: "1",
      SVC_SANDBOX_PROVIDER: "local",
      SVC_SESSION_CAP: "1000",
      SVC_LOG_LEVEL: "silent",
      DATABASE_URL: database.url,
      TEST_DIES_OF: String(DIES_OF),
      TEST_SEED: String(seeds(2 ** 31)),
      ...LEFT_ALONE,
    });
  const servers = await Promise.all(folders.map(spawn));
  let deaths = 0;
  let isOver = false;
  /** Each server is started again whenever it has died. */
  const keeping = folders.map(async (folder, at) => {
    while (!isOver) {
      await servers[at]?.child.exited;
      if (isOver) return;
      deaths++;
      servers[at] = await spawn(folder);
    }
  });
  try {
    const [first] = servers;
    const token = await sendAdminCommand(folders[0] ?? "", {
      verb: "token",
      email: "a@example.com",
      name: "t",
    });
    const entries = Object.entries(TRIGGERS).map(([slug, [schedule, zone]]) =>
      cron(slug, schedule, `timezone = "${zone}"\n`),
    );
    remote.commit("main", { "svc.toml": ["svc_version = 1", ...entries].join("\n") });
    const call = caller(first?.url ?? "", token ?? "");
    const made = await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } });
    expect(made.status).toBe(201);
    const known = async () => (await db`select from triggers`).length === entries.length;
    await until("the triggers are known", known);
    // sessions end at once, and the manifest is not read again
    renameSync(remote.path, `${remote.path}.away`);
    await db`update project_manifests set next_look_at = '2100-01-01'`;

    const rows = new Map<string, Row>();
    const look = async () => {
      const found = await db<Row[]>`
        select f.seq, t.slug, f.state, f.due_at, f.due_until, f.session_id
        from trigger_firings f join triggers t using (trigger_id)`;
      for (const row of found) rows.set(row.seq, row);
    };
    const settled = async () => {
      await setClock();
      const [left] = await db`
        select (select count(*) from triggers where next_fire_at <= ${new Date(now)})::int
          + (select count(*) from trigger_firings where state = 'waiting')::int as count`;
      return left?.["count"] === 0;
    };
    while (now < END) {
      const jump = JUMPS[random(JUMPS.length)] ?? MINUTE;
      now = Math.min(now + jump, STOPS.find((stop) => stop > now) ?? END);
      await setClock();
      if (STOPS.includes(now) || random(KILLED_OF) === 0) servers[random(SERVERS)]?.child.kill("SIGKILL");
      await until("what is due is over", settled);
      await look();
    }
    expect(deaths).toBeGreaterThan(2);

    const all = [...rows.values()];
    for (const [slug, [schedule, zone]] of Object.entries(TRIGGERS)) {
      const mine = all.filter((row) => row.slug === slug);
      const fired = mine.filter(({ state }) => state !== "missed");
      expect(new Set(fired.map(({ state }) => state))).toEqual(new Set(["fired"]));
      const missed = mine.filter(({ state }) => state === "missed");
      const told = [
        ...fired.map(({ due_at }) => due_at.getTime()),
        ...missed.flatMap(({ due_at, due_until }) => dues(schedule, zone, due_at, due_until ?? due_at)),
      ].toSorted((one, other) => one - other);
      expect(told).toEqual(dues(schedule, zone, new Date(START), new Date(END)));
      expect(fired.length).toBeGreaterThan(0);
    }
    const sessions = await db`select session_id from project_sessions order by session_id`;
    const ofFirings = all.flatMap(({ state, session_id }) => (state === "fired" ? (session_id ?? []) : []));
    expect(sessions.map(({ session_id }) => session_id)).toEqual(ofFirings.toSorted());
  } finally {
    isOver = true;
    for (const { child } of servers) child.kill("SIGKILL");
    await Promise.allSettled(keeping);
    for (const { child } of servers) child.kill("SIGKILL");
    await db.end({ timeout: 1 });
    await database.drop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    remote.remove();
  }
});

/** The due times of a stretch of time, its ends among them. */
function dues(schedule: string, zone: string, from: Date, until: Date): number[] {
  const times: number[] = [];
  if (schedule === "* * * * *") {
    for (let at = Math.ceil(from.getTime() / MINUTE) * MINUTE; at <= until.getTime(); at += MINUTE)
      times.push(at);
    return times;
  }
  let at = nextDue(schedule, zone, new Date(from.getTime() - 1));
  while (at && at <= until) {
    times.push(at.getTime());
    at = nextDue(schedule, zone, at);
  }
  return times;
}
