import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { migrateEmbedded } from "../db/migrate.ts";
import { SNAPSHOT_FOLDER, snapshotFile } from "../db/snapshot.ts";
import { jobsTables } from "../src/jobs/queue.ts";

/**
 * Creates the snapshot of the embedded database (`db/snapshot.ts`), once per version of PGlite and of the job queue, and set
 * of migrations.
 */
export async function makeSnapshot(): Promise<void> {
  const file = join(SNAPSHOT_FOLDER, snapshotFile());
  if (existsSync(file)) return;
  const client = await PGlite.create();
  await migrateEmbedded(client);
  await client.exec(jobsTables());
  const archive = await client.dumpDataDir("none");
  await client.close();
  mkdirSync(SNAPSHOT_FOLDER, { recursive: true });
  // the whole folder is embedded, so it must not contain old or incomplete archives
  for (const name of readdirSync(SNAPSHOT_FOLDER)) rmSync(join(SNAPSHOT_FOLDER, name));
  const unfinished = `${SNAPSHOT_FOLDER}.${process.pid}`;
  writeFileSync(unfinished, await archive.bytes());
  renameSync(unfinished, file);
}
