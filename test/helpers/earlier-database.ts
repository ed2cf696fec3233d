import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import postgres from "postgres";
import type { Db } from "../../db/client.ts";
import { MIGRATIONS, migratePostgres } from "../../db/migrate.ts";
import * as schema from "../../db/schema/index.ts";
import { createEmptyDatabase } from "./postgres.ts";

/** A real Postgres with the schema of an earlier version. */
export interface EarlierDatabase extends AsyncDisposable {
  /** Runs one statement or several on one connection. @returns the rows of a single one */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Migrates it to this version. @returns the database on another connection */
  migrate(): Promise<Db>;
}

/** @param last the number of the last migration of the earlier version */
export async function openEarlier(last: number): Promise<EarlierDatabase> {
  const { url, drop } = await createEmptyDatabase();
  const clients: postgres.Sql[] = [];
  const connect = () => {
    const client = postgres(url, { max: 1, fetch_types: false, onnotice() {} });
    clients.push(client);
    return client;
  };
  await migrateUpTo(connect(), last);
  // not a client of Drizzle, which makes texts of its dates
  const client = connect();
  return {
    query: async (text) => [...(await client.unsafe(text))],
    async migrate() {
      await migratePostgres(connect());
      return drizzle(connect(), { schema });
    },
    async [Symbol.asyncDispose]() {
      for (const each of clients) await each.end({ timeout: 1 });
      await drop();
    },
  };
}

async function migrateUpTo(client: postgres.Sql, last: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-migrations-"));
  try {
    const path = "meta/_journal.json";
    const journal: { entries: { idx: number; tag: string }[] } = JSON.parse(
      readFileSync(join(MIGRATIONS, path), "utf8"),
    );
    const entries = journal.entries.filter(({ idx }) => idx <= last);
    for (const { tag } of entries) cpSync(join(MIGRATIONS, `${tag}.sql`), join(folder, `${tag}.sql`));
    mkdirSync(join(folder, "meta"));
    writeFileSync(join(folder, path), JSON.stringify({ ...journal, entries }));
    await migrate(drizzle(client), { migrationsFolder: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
