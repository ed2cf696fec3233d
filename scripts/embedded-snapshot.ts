import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { SNAPSHOT_FILE, SNAPSHOT_FOLDER } from "../db/snapshot.ts";

/** Makes the embedded database's snapshot of `db/snapshot.ts`, once for each version of PGlite. */
export async function makeSnapshot(): Promise<void> {
  const file = join(SNAPSHOT_FOLDER, SNAPSHOT_FILE);
  if (existsSync(file)) return;
  const client = await PGlite.create();
  const archive = await client.dumpDataDir("gzip");
  await client.close();
  mkdirSync(SNAPSHOT_FOLDER, { recursive: true });
  // The folder is embedded as a whole: another version's archive has no place in it, nor has an unfinished one.
  for (const name of readdirSync(SNAPSHOT_FOLDER)) rmSync(join(SNAPSHOT_FOLDER, name));
  const unfinished = `${SNAPSHOT_FOLDER}.${process.pid}`;
  writeFileSync(unfinished, await archive.bytes());
  renameSync(unfinished, file);
}
