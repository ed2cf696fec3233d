import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { sql } from "drizzle-orm";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { migrate as runEmbedded } from "drizzle-orm/pglite/migrator";
import { drizzle as drizzlePostgres } from "drizzle-orm/postgres-js";
import { migrate as runPostgres } from "drizzle-orm/postgres-js/migrator";
import type { Sql } from "postgres";

/** Beside this file in the source tree, and embedded under the same name in a binary. */
export const MIGRATIONS = join(import.meta.dir, "migrations");
/** Any constant that all versions of svc share: "svc" in ASCII. */
const ADVISORY_LOCK = 0x737663;

/** The database was migrated by a newer version of svc. */
export class SchemaTooNewError extends Error {
  override readonly name = "SchemaTooNewError";
  constructor() {
    super(
      "The database was migrated by a newer version of svc. Start that version, or restore a backup from before the upgrade.",
    );
  }
}

/** Migrates over a client of one connection, which it closes. A lock serializes processes that start together. */
export async function migratePostgres(client: Sql): Promise<void> {
  try {
    const db = drizzlePostgres(client);
    await db.execute(sql`select pg_advisory_lock(${ADVISORY_LOCK})`);
    await refuseNewerSchema(db);
    await runPostgres(db, { migrationsFolder: MIGRATIONS });
  } finally {
    await client.end({ timeout: 5 });
  }
}

/** Migrates the embedded database, which only this process has open. */
export async function migrateEmbedded(client: PGlite): Promise<void> {
  const db = drizzlePglite(client);
  await refuseNewerSchema(db);
  await runEmbedded(db, { migrationsFolder: MIGRATIONS });
}

async function refuseNewerSchema(db: PgDatabase<PgQueryResultHKT>): Promise<void> {
  const [table] = await db
    .select({ known: sql<boolean>`to_regclass('drizzle.__drizzle_migrations') is not null` })
    .from(sql`(select 1) as one`);
  if (!table?.known) return;
  const [row] = await db
    .select({ newest: sql<string | null>`max(created_at)::text` })
    .from(sql`drizzle.__drizzle_migrations`);
  if (Number(row?.newest ?? 0) > newestMigration()) throw new SchemaTooNewError();
}

/** The time of the newest migration in this binary, in milliseconds since the epoch. */
export function newestMigration(): number {
  return Math.max(...readJournal().map(({ when }) => when));
}

/** The migrations in this binary, in order. */
function readJournal(): { tag: string; when: number }[] {
  const journal: { entries: { tag: string; when: number }[] } = JSON.parse(
    readFileSync(join(MIGRATIONS, "meta", "_journal.json"), "utf8"),
  );
  return journal.entries;
}

/** The statements of the migrations up to one, in order. Drizzle separates them with a comment. */
export function statementsUpTo(time: number): string[] {
  return readJournal()
    .filter(({ when }) => when <= time)
    .flatMap(({ tag }) =>
      readFileSync(join(MIGRATIONS, `${tag}.sql`), "utf8").split("--> statement-breakpoint"),
    );
}

/** A hash of all migrations, as the cache key of a migrated database. */
export function migrationsDigest(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const { tag, when } of readJournal())
    hash.update(`${when}`).update(readFileSync(join(MIGRATIONS, `${tag}.sql`)));
  return hash.digest("hex").slice(0, 16);
}
