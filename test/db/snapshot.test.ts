import { expect } from "bun:test";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { migrateEmbedded } from "../../db/migrate.ts";
import { embeddedSnapshot, unpackSnapshot } from "../../db/snapshot.ts";
import { jobsTables } from "../../src/jobs/queue.ts";
import { temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";

const SNAPSHOT = embeddedSnapshot() ?? "";
const test = needs("a build of this source (npm run build)", SNAPSHOT !== "");

/** Columns, indices and constraints, and which migrations have made them; without the tables that pg-boss has for each day. */
const DAYS = String.raw`'^queue_stats_\d{8}$'`;
const LOOKS = [
  `select table_name, column_name, data_type, column_default, is_nullable from information_schema.columns where table_schema in ('public', 'jobs') and table_name !~ ${DAYS} order by 1, 2`,
  `select indexdef from pg_indexes where schemaname in ('public', 'jobs') and tablename !~ ${DAYS} order by 1`,
  "select conrelid::regclass::text, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2",
  "select hash, created_at from drizzle.__drizzle_migrations order by created_at",
];

test("a first start from the snapshot has the tables of the migrations, and no rows", async () => {
  await using loaded = await PGlite.create({ loadDataDir: Bun.file(SNAPSHOT) });
  await using made = await PGlite.create();
  await migrateEmbedded(made);
  await made.exec(jobsTables());
  for (const look of LOOKS) {
    const { rows } = await loaded.query(look);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual((await made.query(look)).rows);
  }
  const tables = "select tablename as name from pg_tables where schemaname = 'public'";
  for (const { name } of (await loaded.query<{ name: string }>(tables)).rows)
    expect((await loaded.query(`select from "${name}" limit 1`)).rows).toEqual([]);
});

test("a snapshot is unpacked whole or not at all, also after a start that was killed", async () => {
  await using folder = await temporary();
  const cut = join(folder.path, "cut.tar.gz");
  const directory = join(folder.path, "postgres");
  await Bun.write(cut, (await Bun.file(SNAPSHOT).bytes()).subarray(0, 1_000_000));
  await expect(unpackSnapshot(cut, directory)).rejects.toThrow();
  expect(readdirSync(folder.path)).toEqual(["cut.tar.gz"]);
  mkdirSync(`${directory}.unpacking/left`, { recursive: true });
  await unpackSnapshot(SNAPSHOT, directory);
  expect(readdirSync(folder.path).sort()).toEqual(["cut.tar.gz", "postgres"]);
  expect(readdirSync(directory)).not.toContain("left");
  expect(readdirSync(directory)).toContain("PG_VERSION");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});
