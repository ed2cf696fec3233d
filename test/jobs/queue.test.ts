import { afterAll, beforeAll, expect } from "bun:test";
import { sql } from "drizzle-orm";
import pino from "pino";
import { type Database, openPostgres } from "../../db/client.ts";
import { type Jobs, openJobs } from "../../src/jobs/queue.ts";
import { Changes } from "../../src/lib/changes.ts";
import { linkTo } from "../helpers/database-link.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const log = pino({ level: "silent" });
const QUEUE = "runs/here";

let made: TestDatabase;
/** Of the server that enqueues, and works on nothing. */
let other: { database: Database; jobs: Jobs };

/** A server's queue. Its `changes` begin a round of what is periodic: no test waits for the interval. */
async function openServer(url: string) {
  const database = await openPostgres(url);
  const changes = new Changes();
  const jobs = await openJobs(database, [QUEUE], { changes, log });
  const stop = async () => {
    await jobs.stop();
    await database.close();
  };
  return { database, changes, jobs, stop };
}

beforeAll(async () => {
  if (!POSTGRES) return;
  made = await createDatabase();
  other = await openServer(made.url);
});
afterAll(async () => {
  await other?.jobs.stop();
  await other?.database.close();
  await made?.drop();
});

test("jobs that another server enqueues run at once, more of them than there are workers", async () => {
  const server = await openServer(made.url);
  const done = new Set<string>();
  await server.jobs.work(QUEUE, async (key) => void done.add(key));
  try {
    const keys = Array.from({ length: 25 }, (_, index) => `key ${index}`);
    for (const key of keys) await other.jobs.enqueue(other.database.db, QUEUE, key);
    await until("all jobs have run", () => keys.every((key) => done.has(key)));
  } finally {
    await server.stop();
  }
});

test("a job is enqueued with its transaction: not before the commit, and not after a rollback", async () => {
  const server = await openServer(made.url);
  const ran: string[] = [];
  await server.jobs.work(QUEUE, async (key) => void ran.push(key));
  try {
    await other.database.db
      .transaction(async (tx) => {
        await other.jobs.enqueue(tx, QUEUE, "rolled back");
        throw new Error("no");
      })
      .catch(() => {});
    await other.database.db.transaction(async (tx) => {
      await other.jobs.enqueue(tx, QUEUE, "committed");
      expect(ran).toEqual([]);
    });
    await until("it has run", () => ran.length > 0);
    expect(ran).toEqual(["committed"]);
  } finally {
    await server.stop();
  }
});

test("jobs that were enqueued while a server had no database run when it is back", async () => {
  const link = await linkTo(made.url);
  const server = await openServer(link.url);
  const ran: string[] = [];
  await server.jobs.work(QUEUE, async (key) => void ran.push(key));
  try {
    link.cut();
    await until("it has tried to connect", () => link.refused() > 0);
    await other.jobs.enqueue(other.database.db, QUEUE, "unheard");
    link.mend();
    await until("it has run", () => ran.includes("unheard"));
  } finally {
    await server.stop();
    link.close();
  }
});

test("a job whose server died runs on another", async () => {
  const link = await linkTo(made.url);
  const dying = await openServer(link.url);
  const taken = Promise.withResolvers<void>();
  await dying.jobs.work(QUEUE, async () => {
    taken.resolve();
    await new Promise(() => {});
  });
  await other.jobs.enqueue(other.database.db, QUEUE, "left behind");
  await taken.promise;
  link.cut();
  const server = await openServer(made.url);
  const ran: string[] = [];
  await server.jobs.work(QUEUE, async (key) => void ran.push(key));
  try {
    // as if its heartbeat had ceased for long, and then the delay of the retry had passed
    const ages = sql`update jobs.job set heartbeat_on = now() - interval '1 hour', start_after = now() - interval '1 hour'
      where name = ${QUEUE} and state <= 'active'`;
    await until("it has run", async () => {
      await other.database.db.execute(ages);
      server.changes.notify("jobs");
      return ran.length > 0;
    });
    expect(ran).toEqual(["left behind"]);
  } finally {
    await server.stop();
    link.close();
  }
});

test("finished jobs are deleted", async () => {
  const server = await openServer(made.url);
  const count = async () => await other.database.db.select({ id: sql`id` }).from(sql`jobs.job`);
  try {
    await until("none is left", async () => {
      await other.database.db.execute(sql`update jobs.job set completed_on = now() - interval '1 hour'`);
      await other.database.db.execute(sql`update jobs.queue set maintain_on = null, monitor_on = null`);
      server.changes.notify("jobs");
      return (await count()).length === 0;
    });
  } finally {
    await server.stop();
  }
});
