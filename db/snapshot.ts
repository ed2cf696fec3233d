import { existsSync } from "node:fs";
import { join } from "node:path";
import { version } from "../node_modules/@electric-sql/pglite/package.json";
import { version as jobsVersion } from "../node_modules/pg-boss/package.json";
import { migrationsDigest } from "./migrate.ts";

/** A folder, so that the build can embed it in a binary, beside the code and under the same base name. */
export const SNAPSHOT_FOLDER = join(import.meta.dir, "../node_modules/.cache/svc/pglite-snapshot");

/**
 * The file name of the snapshot for these versions of Postgres and of the job queue, and these migrations.
 */
export function snapshotFile(): string {
  return `pglite-${version}-${jobsVersion}-${migrationsDigest()}.tar`;
}

/**
 * A data folder of the embedded database as a tar, with the tables of svc and its job queue: loading it takes a fifth of the
 * time and half of the memory of creating one. It is not compressed, because the archives of releases are. A binary always has it, the source tree after a build.
 * @returns the archive's path; null when it does not exist, and the database must be created
 */
export function embeddedSnapshot(): string | null {
  const file = snapshotFile();
  const candidates = [join(import.meta.dir, "pglite-snapshot", file), join(SNAPSHOT_FOLDER, file)];
  return candidates.find((path) => existsSync(path)) ?? null;
}
