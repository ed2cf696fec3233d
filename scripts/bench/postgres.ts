import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { openPostgres } from "../../db/client.ts";
import { jobsTables } from "../../src/jobs/queue.ts";
import { type PostgresServer, startPostgres as start } from "../postgres-server.ts";
import type { Workbench } from "./workbench.ts";

/** A Postgres on loopback. */
export interface Postgres {
  /** Creates a database with all tables, without rows. @returns its URL */
  createDatabase(): Promise<string>;
}

/** Why Postgres is not available. */
export interface NoPostgres {
  missing: string;
}

type Address = Pick<PostgresServer, "url">;

const started = new WeakMap<Workbench, Promise<Postgres | NoPostgres>>();

/** Starts Postgres from its npm package, once for the whole run. A smoke run in a test uses that of the test command. */
export function startPostgres(bench: Workbench): Promise<Postgres | NoPostgres> {
  return started.getOrInsertComputed(bench, startNow);
}

async function startNow(bench: Workbench): Promise<Postgres | NoPostgres> {
  const given = bench.report.smoke ? process.env["TEST_DATABASE_URL"] : undefined;
  const server = given ? { url: given } : await start();
  if ("missing" in server) return server;
  if ("stop" in server) bench.atEnd(server.stop);
  const template = await createTemplate(server);
  return { createDatabase: () => createDatabase(server, template) };
}

/** The tables are created once: to copy them takes a tenth of the time. @returns the name of a database */
async function createTemplate(server: Address): Promise<string> {
  const url = await createDatabase(server, "template1");
  await (await openPostgres(url)).close();
  await execute(url, jobsTables());
  return new URL(url).pathname.slice(1);
}

async function createDatabase(server: Address, template: string): Promise<string> {
  const name = `bench_${randomUUID().replaceAll("-", "")}`;
  await execute(server.url, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}

async function execute(url: string, statements: string): Promise<void> {
  const client = postgres(url, { max: 1, onnotice() {} });
  await client.unsafe(statements);
  await client.end();
}
