import { afterAll } from "bun:test";
import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { startPostgres } from "../../scripts/postgres-server.ts";

export interface TestDatabase {
  url: string;
  /** Ends whoever is connected and removes the database. */
  drop(): Promise<void>;
}

let stopped = false;

/** The test command's server, or one of this process's own; null where there is none. */
const SERVER = await serverUrl();

/** For `needs("a real Postgres", POSTGRES)`: locks, races and dying connections cannot be had from the embedded one. */
export const POSTGRES = SERVER !== null;

/** Makes an empty database. It takes about 50 ms. */
export async function createDatabase(): Promise<TestDatabase> {
  if (SERVER === null) throw new Error("there is no Postgres here: make the test with `needs`");
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await execute(SERVER, `create database ${name}`);
  const url = new URL(SERVER);
  url.pathname = name;
  return {
    url: url.href,
    async drop() {
      if (!stopped) await execute(SERVER, `drop database if exists ${name} with (force)`);
    },
  };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = postgres(url, { max: 1, onnotice() {} });
  try {
    await client.unsafe(statement);
  } finally {
    await client.end({ timeout: 1 });
  }
}

/** TEST_DATABASE_URL names a server whose superuser it is; empty, the test command found that none can run here. */
async function serverUrl(): Promise<string | null> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) return given || null;
  const server = await startPostgres();
  if ("missing" in server) return null;
  // This comes before the `afterAll` of whoever imports this file; the databases go with the server.
  afterAll(() => {
    stopped = true;
    server.stop();
  });
  return server.url;
}
