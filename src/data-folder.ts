import { Database } from "bun:sqlite";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Another process holds the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = "DataFolderInUseError";
  constructor(path: string) {
    super(
      `Another svc-api is using the data folder ${path}. Stop it, or set SVC_DATA_DIR to another folder.`,
    );
  }
}

/** The data folder cannot be created or written. */
export class DataFolderError extends Error {
  override readonly name = "DataFolderError";
  constructor(path: string, reason: string) {
    super(
      `Cannot use the data folder ${path} (${reason}). Set SVC_DATA_DIR to a folder that the user of the server can create and write.`,
    );
  }
}

/**
 * Creates the data folder (mode 0700) and locks it for this process. The kernel holds the lock (an exclusive transaction
 * of SQLite in the file `lock`) and releases it when the process exits, so a lock is never stale.
 * @returns a function that releases the lock
 * @throws DataFolderInUseError when another process holds the lock, DataFolderError when the folder cannot be used
 */
export function lockDataFolder(path: string): () => void {
  const lock = openLock(path);
  try {
    lock.run("pragma busy_timeout = 0");
    lock.run("begin exclusive");
  } catch (error) {
    lock.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY")
      throw new DataFolderInUseError(path);
    throw error;
  }
  return () => lock.close();
}

/** @throws DataFolderError */
function openLock(path: string): Database {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    return new Database(join(path, "lock"), { create: true });
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new DataFolderError(path, `${error.code}`);
  }
}

/** A restore into the data folder was interrupted. */
export class RestoreUnfinishedError extends Error {
  override readonly name = "RestoreUnfinishedError";
  constructor() {
    super(
      "A restore into this data folder did not finish. Run the same svc-api restore again: it removes the incomplete files first.",
    );
  }
}

/** Exists while a restore fills the data folder. */
export function restoreMark(path: string): string {
  return join(path, "restore-unfinished");
}

/** The folder with the files of a deployment's site. */
export function siteFolder(dataDir: string, deploymentId: string): string {
  return join(dataDir, "sites", deploymentId);
}

/** The server's id, which is created on the first start. The caller must hold the lock of the data folder. */
export function readServerId(path: string): string {
  const file = join(path, "server-id");
  if (!existsSync(file)) writeFileSync(file, `${randomUUID()}\n`, { mode: 0o600, flush: true });
  const id = readFileSync(file, "utf8").trim();
  if (!/^[0-9a-f-]{36}$/.test(id))
    throw new Error("The file server-id in the data folder is damaged. Restore it from a backup.");
  return id;
}

/**
 * Listens on a unix socket of the data folder that only the server's user can open (0600 in a 0700 folder). The caller
 * must hold the lock of the data folder: then an existing socket was left by a process that has exited.
 */
export function listenPrivately<T>(path: string, listen: () => T): T {
  rmSync(path, { force: true });
  const mask = process.umask(0o177);
  try {
    const server = listen();
    chmodSync(path, 0o600);
    return server;
  } finally {
    process.umask(mask);
  }
}
