import { afterAll } from "bun:test";
import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import pino from "pino";
import postgres from "postgres";
import { type Database, type Db, openEmbedded, openPostgres } from "../../db/client.ts";
import { migrationsDigest } from "../../db/migrate.ts";
import { startPostgres } from "../../scripts/postgres-server.ts";
import { openJobs } from "../../src/jobs/queue.ts";
import { Changes } from "../../src/lib/changes.ts";
import { until } from "./until.ts";

export interface TestDatabase {
  url: string;
  /** Closes all connections and removes the database. */
  drop(): Promise<void>;
}

/** Any constant will do: test processes that share a server make the template one after another. */
const TEMPLATE_LOCK = 0x74657374;

let stopped = false;

/** The test command's server, or one of this process's own; null where there is none. */
const SERVER = await serverUrl();

/** For `needs("a real Postgres", POSTGRES)`: locks, races and dying connections cannot be had from the embedded one. */
export const POSTGRES = SERVER !== null;

/** A database as a server has it that has just been started for the first time: a copy of the template. */
export async function createDatabase(): Promise<TestDatabase> {
  template ??= makeTemplate();
  // its files are copied, which takes half as long as writing its pages to the log of changes
  return await create(`template ${await template} strategy file_copy`);
}

/** A database without tables, for tests of the migrations. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return await create("");
}

/** An open database for tests of the tables only: a real Postgres, or else the embedded one. */
export async function openDatabase(): Promise<Database> {
  if (!POSTGRES) return await openEmbedded();
  const { url, drop } = await createDatabase();
  const database = await openPostgres(url);
  return { ...database, close: () => database.close().then(drop) };
}

/** Waits until a statement in the database waits for a lock that another transaction has. */
export async function untilBlocked(db: Db): Promise<void> {
  const waiting = sql`pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const count = () => db.select({ pid: sql<number>`pid` }).from(waiting);
  await until("a statement waits for a lock", async () => (await count()).length > 0);
}

/** Where the server keeps a database's files, with all that was committed in them. */
export async function databaseFolder(url: string): Promise<string> {
  const client = connect(url);
  try {
    await client`checkpoint`;
    const [row] = await client<{ folder: string }[]>`
      select current_setting('data_directory') || '/base/' || oid as folder
      from pg_database where datname = current_database()`;
    if (!row) throw new Error("the database is gone");
    return row.folder;
  } finally {
    await client.end({ timeout: 1 });
  }
}

let template: Promise<string> | undefined;

/** The template of these migrations, made by the first process that needs it. One that is half made has another name. */
async function makeTemplate(): Promise<string> {
  const name = `template_${migrationsDigest()}`;
  const client = connect(serverOrFail());
  try {
    await client`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    if ((await client`select from pg_database where datname = ${name}`).length > 0) return name;
    const unfinished = await createEmptyDatabase();
    const database = await openPostgres(unfinished.url);
    const jobs = await openJobs(database, [], { changes: new Changes(), log: pino({ level: "silent" }) });
    await jobs.stop();
    await database.close();
    await client.unsafe(`alter database ${new URL(unfinished.url).pathname.slice(1)} rename to ${name}`);
    return name;
  } finally {
    await client.end({ timeout: 1 });
  }
}

async function create(how: string): Promise<TestDatabase> {
  const server = serverOrFail();
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await execute(server, `create database ${name} ${how}`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    async drop() {
      if (!stopped) await execute(server, `drop database if exists ${name} with (force)`);
    },
  };
}

function serverOrFail(): string {
  if (SERVER === null) throw new Error("there is no Postgres here: make the test with `needs`");
  return SERVER;
}

/** One connection of a process for all its databases: each start of a backend costs as much as a server's queries. */
async function execute(url: string, statement: string): Promise<void> {
  admin ??= connect(url);
  await admin.unsafe(statement);
}

let admin: postgres.Sql | undefined;

function connect(url: string) {
  return postgres(url, { max: 1, fetch_types: false, onnotice() {} });
}

/** TEST_DATABASE_URL names a server whose superuser it is; empty, the test command found that none can run here. */
async function serverUrl(): Promise<string | null> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) return given || null;
  // the pictures of the docs are taken outside of the test runner, with the embedded database
  if (process.env["NODE_ENV"] !== "test") return null;
  const server = await startPostgres();
  if ("missing" in server) return null;
  // This runs before the `afterAll` of files that import this one; the databases are removed with the server.
  afterAll(() => {
    stopped = true;
    server.stop();
  });
  return server.url;
}
