import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import { MIGRATIONS } from "../../db/migrate.ts";

/** Brings an empty database to the schema of an earlier version. @param last the number of its last migration */
export async function migrateUpTo(client: PGlite, last: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-migrations-"));
  try {
    cpSync(MIGRATIONS, folder, { recursive: true });
    const path = join(folder, "meta/_journal.json");
    const journal: { entries: { idx: number }[] } = JSON.parse(readFileSync(path, "utf8"));
    const entries = journal.entries.filter(({ idx }) => idx <= last);
    writeFileSync(path, JSON.stringify({ ...journal, entries }));
    await migrate(drizzle(client), { migrationsFolder: folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
