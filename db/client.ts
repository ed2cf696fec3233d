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
import { embeddedSnapshot, unpackSnapshot } from "./snapshot.ts";

/** Runs one statement as text. @returns its rows */
export type Query = (text: string, values?: string[]) => Promise<Record<string, unknown>[]>;

/** A database or a transaction; functions accept either. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>;

export interface Database {
  db: Db;
  kind: "postgres" | "embedded";
  /** The database for the job queue: the same one, over separate connections if it supports several. */
  queue: { url: string } | { embedded: PGlite };
  /**
   * Runs work in one transaction. `snapshot`: it only reads, and all its queries see the moment of the first one;
   * `write`: it changes all or nothing. There is no time limit for a statement.
   */
  transact<T>(kind: "snapshot" | "write", work: (query: Query) => Promise<T>): Promise<T>;
  /** Listens on a channel; the subscription is closed before the database. */
  listen(listener: Listener): Subscription;
  /** Waits for running queries, and closes the connections. */
  close(): Promise<void>;
}

/**
 * Connections of one API process, besides the three of its queue and the one for LISTEN: ten processes fit into the
 * default limit of Postgres, 100, with spare connections for operators.
 */
const POOL_SIZE = 5;
const CONNECT_TIMEOUT_SECONDS = 10;
/** No statement of svc takes longer, unless it waits for a lock; then it must release its connection. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** All requests have ended by then; a dead connection would never close. */
const CLOSE_TIMEOUT_SECONDS = 1;

export interface OpenOptions {
  /** False: the schema stays as it is, also if it is empty. */
  migrate?: boolean;
}

/**
 * Opens Postgres at `url`, and migrates its schema.
 * @throws SchemaTooNewError when a newer svc has migrated the database
 */
export async function openPostgres(url: string, { migrate = true }: OpenOptions = {}): Promise<Database> {
  const { default: postgres } = await import("postgres");
  const quiet = () => {};
  if (migrate)
    await migratePostgres(
      postgres(url, {
        max: 1,
        connect_timeout: CONNECT_TIMEOUT_SECONDS,
        fetch_types: false,
        onnotice: quiet,
      }),
    );
  const client = postgres(url, {
    max: POOL_SIZE,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    fetch_types: false,
    onnotice: quiet,
    connection: {
      application_name: "svc-api",
      // compiling takes longer than the queries of svc, and the planner overestimates those of the search
      jit: "off",
      statement_timeout: STATEMENT_TIMEOUT_MS,
      idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    },
  });
  return {
    db: drizzlePostgres(client, { schema }),
    kind: "postgres",
    queue: { url },
    async transact<T>(kind: "snapshot" | "write", work: (query: Query) => Promise<T>): Promise<T> {
      const own = postgres(url, {
        max: 1,
        connect_timeout: CONNECT_TIMEOUT_SECONDS,
        fetch_types: false,
        onnotice: quiet,
        connection: { application_name: "svc-api backup", statement_timeout: 0 },
      });
      try {
        const mode = kind === "snapshot" ? "isolation level repeatable read read only" : "";
        const done: { result: T }[] = [];
        await own.begin(mode, async (tx) => {
          done.push({ result: await work(async (text, values = []) => await tx.unsafe(text, values)) });
        });
        const [only] = done;
        if (!only) throw new Error("the transaction was not run");
        return only.result;
      } finally {
        await own.end({ timeout: CLOSE_TIMEOUT_SECONDS });
      }
    },
    listen: (listener) => listenPostgres(url, listener),
    close: () => client.end({ timeout: CLOSE_TIMEOUT_SECONDS }),
  };
}

/**
 * Opens the embedded Postgres (PGlite) in the folder `directory`, which is created on the first start; without a folder,
 * in memory. The caller must hold the lock of the data folder: two processes on one folder would corrupt it.
 * @throws SchemaTooNewError when a newer svc has migrated the database
 */
export async function openEmbedded(
  directory?: string,
  { migrate = true }: OpenOptions = {},
): Promise<Database> {
  const { PGlite } = await import("@electric-sql/pglite");
  const fresh = directory === undefined || !(await Bun.file(`${directory}/PG_VERSION`).exists());
  const snapshot = fresh && migrate ? embeddedSnapshot() : null;
  if (snapshot !== null && directory !== undefined) await unpackSnapshot(snapshot, directory);
  const client = await PGlite.create({
    ...(directory !== undefined && { dataDir: directory }),
    ...(snapshot !== null && directory === undefined && { loadDataDir: Bun.file(snapshot) }),
    fsBundle: Bun.file(fsBundlePath),
    pgliteWasmModule: await compile(wasmPath),
    initdbWasmModule: await compile(initdbPath),
  });
  try {
    if (migrate) await migrateEmbedded(client);
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    db: drizzlePglite(client, { schema }),
    kind: "embedded",
    queue: { embedded: client },
    // it has one connection: nothing else changes the database meanwhile
    transact: (_, work) =>
      client.transaction((tx) =>
        work(async (text, values = []) => (await tx.query<Record<string, unknown>>(text, values)).rows),
      ),
    listen: (listener) => listenEmbedded(client, listener),
    close: () => client.close(),
  };
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(path).arrayBuffer());
}
