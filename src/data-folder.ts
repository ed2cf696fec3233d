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

/**
 * Makes the data folder (mode 0700) and takes it for this process. The lock is the kernel's (SQLite's on a file of
 * its own), so it ends with the process however that ends, and is never left behind.
 * @returns a function that gives the folder up.
 * @throws DataFolderInUseError when another process has it.
 */
export function takeDataFolder(path: string): () => void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  const lock = new Database(join(path, "lock"), { create: true });
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

/** Where the files of a deployment's site are. */
export function siteFolder(dataDir: string, deploymentId: string): string {
  return join(dataDir, "sites", deploymentId);
}

/** The id of the server that this data folder belongs to, made on the first start. For whoever holds the folder. */
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
 * holds the data folder, so a socket that is already there is a dead process's.
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
