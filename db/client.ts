import type { PGlite } from "@electric-sql/pglite";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { drizzle as drizzlePostgres } from "drizzle-orm/postgres-js";
import initdbPath from "../node_modules/@electric-sql/pglite/dist/initdb.wasm" with { type: "file" };
import fsBundlePath from "../node_modules/@electric-sql/pglite/dist/pglite.data" with { type: "file" };
import wasmPath from "../node_modules/@electric-sql/pglite/dist/pglite.wasm" with { type: "file" };
import { type Listener, listenEmbedded, listenPostgres, type Subscription } from "./listen.ts";
import { migrateEmbedded, migratePostgres } from "./migrate.ts";
import * as schema from "./schema/index.ts";
import { embeddedSnapshot } from "./snapshot.ts";

/** A database or a transaction of it: every function that takes one may be called with either. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>;

export interface Database {
  db: Db;
  kind: "postgres" | "embedded";
  /** Where the queue of jobs keeps its tables: the same database, over connections of its own where it can have them. */
  queue: { url: string } | { embedded: PGlite };
  /** Listens on a channel; the subscription is closed before the database. */
  listen(listener: Listener): Subscription;
  /** Waits for queries under way and ends the connections. */
  close(): Promise<void>;
}

/**
 * Connections of one API process, beside the three of its queue and the one that listens: ten processes fit into a
 * Postgres with its default of 100, with room for operators.
 */
const POOL_SIZE = 5;
const CONNECT_TIMEOUT_SECONDS = 10;
/** No statement of ours needs longer; one that does is stuck behind a lock and must not hold its connection. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Requests have ended before; a connection that died earlier is never answered for, and is not waited for. */
const CLOSE_TIMEOUT_SECONDS = 1;

/**
 * Opens Postgres at `url`, and brings its schema up to date.
 * @throws SchemaTooNewError when the database was made by a newer svc.
 */
export async function openPostgres(url: string): Promise<Database> {
  const { default: postgres } = await import("postgres");
  const quiet = () => {};
  await migratePostgres(postgres(url, { max: 1, connect_timeout: CONNECT_TIMEOUT_SECONDS, onnotice: quiet }));
  const client = postgres(url, {
    max: POOL_SIZE,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    fetch_types: false,
    onnotice: quiet,
    connection: {
      application_name: "svc-api",
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
  return {
    db: drizzlePostgres(client, { schema }),
    kind: "postgres",
    queue: { url },
    listen: (listener) => listenPostgres(url, listener),
    close: () => client.end({ timeout: CLOSE_TIMEOUT_SECONDS }),
  };
}

/**
 * Opens the embedded Postgres (PGlite) in the folder `directory`, made on the first start; without a folder it lives
 * in memory. The caller holds the data folder's lock: two processes on one folder would destroy it.
 * @throws SchemaTooNewError when the database was made by a newer svc.
 */
export async function openEmbedded(directory?: string): Promise<Database> {
  const { PGlite } = await import("@electric-sql/pglite");
  const fresh = directory === undefined || !(await Bun.file(`${directory}/PG_VERSION`).exists());
  const snapshot = fresh ? embeddedSnapshot() : null;
  const client = await PGlite.create({
    ...(directory === undefined ? {} : { dataDir: directory }),
    ...(snapshot === null ? {} : { loadDataDir: Bun.file(snapshot) }),
    fsBundle: Bun.file(fsBundlePath),
    pgliteWasmModule: await compile(wasmPath),
    initdbWasmModule: await compile(initdbPath),
  });
  try {
    await migrateEmbedded(client);
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    db: drizzlePglite(client, { schema }),
    kind: "embedded",
    queue: { embedded: client },
    listen: (listener) => listenEmbedded(client, listener),
    close: () => client.close(),
  };
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(path).arrayBuffer());
}
