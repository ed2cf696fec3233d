import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Database, openEmbedded, openPostgres, type Query } from "../../db/client.ts";
import { isEmpty } from "../../db/load.ts";
import type { Config } from "../config.ts";
import { lockDataFolder, restoreMark } from "../data-folder.ts";
import { createGit } from "../git/create.ts";
import { syncDirectory } from "../git/mirror/store.ts";
import { BackupError } from "./format.ts";
import { readArchive } from "./read-archive.ts";
import { type Restored, restoreParts } from "./restore-parts.ts";

/** Files that may be in an empty data folder: the lock, and what a file system puts at its root. */
const HARMLESS = new Set(["lock", "lock-journal", "lost+found"]);
/** Where the files are until all of them are there. */
const STAGING = "restoring";
/** The content of the mark while a database on a server may be committed. */
const PLACED = "placed\n";

export interface Watch {
  log: Logger;
  /** Called before each part. */
  onPart(part: string): void;
}

type Settings = Pick<Config, "dataDir" | "databaseUrl" | "masterKey">;

/**
 * Restores a backup into an empty data folder and an empty database: completely, or not at all. Until the end, a mark in
 * the folder prevents a start of the server; after a crash the next restore removes what this one has written.
 * @throws BackupError, DataFolderInUseError; what the source throws
 */
export async function restore(
  config: Settings,
  source: AsyncIterable<Uint8Array>,
  watch: Watch,
): Promise<Restored | "already complete"> {
  const unlock = lockDataFolder(config.dataDir);
  try {
    if (await isCommitted(config)) {
      await rm(restoreMark(config.dataDir));
      return "already complete";
    }
    await requireEmptyFolder(config.dataDir);
    await writeFile(restoreMark(config.dataDir), "", { mode: 0o600, flush: true });
    try {
      const restored = await fill(config, source, watch);
      await rm(restoreMark(config.dataDir));
      return restored;
    } catch (error) {
      // unless the commit's answer was lost: then the next restore finds out
      if ((await markOf(config.dataDir)) !== PLACED || !(await mayBeCommitted(config)))
        await empty(config.dataDir);
      throw error;
    }
  } finally {
    unlock();
  }
}

async function fill(
  config: Settings,
  source: AsyncIterable<Uint8Array>,
  { log, onPart }: Watch,
): Promise<Restored> {
  const { dataDir, databaseUrl } = config;
  const staging = join(dataDir, STAGING);
  await mkdir(staging, { mode: 0o700 });
  const git = await createGit({ dataDir: staging, allowPrivate: false, sshKeys: "project", log });
  const options = { migrate: false };
  const database =
    databaseUrl === null
      ? await openEmbedded(join(staging, "postgres"), options)
      : await openPostgres(databaseUrl, options);
  const load = (query: Query) => loadAll(config, { git, query, staging }, source, onPart);
  try {
    if (databaseUrl !== null) {
      return await database.transact("write", async (query) => {
        const restored = await load(query);
        await git.close();
        await place(dataDir);
        await writeFile(restoreMark(dataDir), PLACED, { flush: true });
        return restored;
      });
    }
    const restored = await database.transact("write", load);
    await git.close();
    await database.close();
    await place(dataDir);
    return restored;
  } finally {
    await git.close();
    await closeOnce(database);
  }
}

async function loadAll(
  config: Settings,
  context: Parameters<typeof restoreParts>[1],
  source: AsyncIterable<Uint8Array>,
  onPart: Watch["onPart"],
): Promise<Restored> {
  if (!(await isEmpty(context.query))) {
    throw new BackupError(
      "The database is not empty. Restore into a new database: create one, and set DATABASE_URL to it.",
    );
  }
  const parts = restoreParts(config, context);
  await readArchive(source, async (part, content) => {
    onPart(part);
    await parts.take(part, content);
  });
  return await parts.finish();
}

/** Moves the files to their places. */
async function place(dataDir: string): Promise<void> {
  const staging = join(dataDir, STAGING);
  for (const name of await readdir(staging)) await rename(join(staging, name), join(dataDir, name));
  await rm(staging, { recursive: true });
  await syncDirectory(dataDir);
}

/** Whether an earlier restore has committed the database, its last step, and was killed before it removed the mark. */
async function isCommitted(config: Settings): Promise<boolean> {
  return (await markOf(config.dataDir)) === PLACED && (await mayBeCommitted(config));
}

async function mayBeCommitted({ databaseUrl }: Settings): Promise<boolean> {
  if (databaseUrl === null) return false;
  const database = await openPostgres(databaseUrl, { migrate: false });
  try {
    return !(await database.transact("snapshot", isEmpty));
  } finally {
    await database.close();
  }
}

async function markOf(dataDir: string): Promise<string | null> {
  return await readFile(restoreMark(dataDir), "utf8").catch(() => null);
}

async function requireEmptyFolder(dataDir: string): Promise<void> {
  if ((await markOf(dataDir)) !== null) await empty(dataDir);
  const [found] = (await readdir(dataDir)).filter((name) => !HARMLESS.has(name));
  if (found === undefined) return;
  throw new BackupError(
    `The data folder ${dataDir} is not empty: it has ${found}. Restore into a new folder: set SVC_DATA_DIR to it.`,
  );
}

/** Removes what a restore has written: the mark is only in folders that were empty, and goes last. */
async function empty(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name);
    if (!HARMLESS.has(name) && path !== restoreMark(dataDir))
      await rm(path, { recursive: true, force: true });
  }
  await rm(restoreMark(dataDir), { force: true });
}

async function closeOnce(database: Database): Promise<void> {
  // the embedded database refuses to be closed twice
  await database.close().catch(() => {});
}
