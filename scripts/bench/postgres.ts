import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { type PostgresServer, startPostgres as start } from "../postgres-server.ts";
import type { Workbench } from "./workbench.ts";

/** A Postgres on loopback. */
export interface Postgres {
  /** Creates an empty database. @returns its URL */
  createDatabase(): Promise<string>;
  pid: number;
}

/** Why Postgres is not available. */
export interface NoPostgres {
  missing: string;
}

const started = new WeakMap<Workbench, Promise<Postgres | NoPostgres>>();

/** Starts Postgres from its npm package, once for the whole run. */
export function startPostgres(bench: Workbench): Promise<Postgres | NoPostgres> {
  return started.getOrInsertComputed(bench, startNow);
}

async function startNow(bench: Workbench): Promise<Postgres | NoPostgres> {
  const server = await start();
  if ("missing" in server) return server;
  bench.atEnd(server.stop);
  return { createDatabase: () => createDatabase(server), pid: server.pid };
}

async function createDatabase(server: PostgresServer): Promise<string> {
  const name = `bench_${randomUUID().replaceAll("-", "")}`;
  const client = postgres(server.url, { max: 1, onnotice() {} });
  await client.unsafe(`create database ${name}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}
