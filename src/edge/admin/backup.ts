import { open as openFile, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import pino from "pino";
import { backUp } from "../../backup/back-up.ts";
import { BackupError, DamagedError } from "../../backup/format.ts";
import { readArchive } from "../../backup/read-archive.ts";
import type { Config } from "../../config.ts";
import { createGit } from "../../git/create.ts";
import { syncDirectory } from "../../git/mirror/store.ts";
import { loadMasterKey } from "../../keys.ts";
import { open } from "../../open.ts";
import { progressTo } from "./backup-progress.ts";
import { requestBackup } from "./socket.ts";

export interface BackupOptions {
  /** A path, or `-` for standard output. */
  out: string;
  withKey: boolean;
}

/**
 * `svc-api backup`: through the running server if there is one, else directly. The archive is checked as it is written,
 * and appears under its name when it is complete.
 * @returns the line to print on stderr
 * @throws BackupError; the signal's reason
 */
export async function runBackup(
  config: Config,
  options: BackupOptions,
  signal: AbortSignal,
): Promise<string> {
  const sink = options.out === "-" ? standardOutput() : await newFile(resolve(options.out));
  const progress = progressTo(process.stderr, "backup");
  try {
    const source = until(signal, await sourceOf(config, options.withKey, signal));
    await readArchive(tee(source, sink.write), async (part) => progress.part(part, sink.bytes()));
    await sink.finish();
  } catch (error) {
    await sink.discard();
    signal.throwIfAborted();
    if (error instanceof DamagedError || isLost(error))
      throw new BackupError("The server ended the backup before it was complete. Its log has the reason.");
    throw error;
  } finally {
    progress.end();
  }
  return `Backup complete: ${sink.name}, ${Math.ceil(sink.bytes() / 1e6)} MB${options.withKey ? ". It contains the master key: keep it as secret as the server." : ", without the master key."}`;
}

/** The connection to the server was closed before the end. */
function isLost(error: unknown): boolean {
  const code: unknown = Reflect.get(Object(error), "code");
  return code === "ECONNRESET" || code === "ConnectionClosed";
}

async function sourceOf(
  config: Config,
  withKey: boolean,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const running = await requestBackup(config.dataDir, withKey, signal);
  return running ?? (await backUpDirectly(config, withKey));
}

/** Without a server. The tables stay as they are: a backup before an upgrade can be restored by the older version. */
async function backUpDirectly(config: Config, withKey: boolean): Promise<AsyncIterable<Uint8Array>> {
  if ((await stat(config.dataDir).catch(() => null)) === null)
    throw new BackupError(`There is no data folder at ${config.dataDir}. Set SVC_DATA_DIR to the server's.`);
  const opened = await open(config, { migrate: false });
  return (async function* () {
    const log = pino({ level: config.logLevel }, pino.destination(2));
    const git = await createGit({ dataDir: config.dataDir, allowPrivate: false, sshKeys: "project", log });
    try {
      const { dataDir, volumeMaxBytes } = config;
      const masterKey = keyFor(config, withKey);
      yield* backUp({ ...opened, git, dataDir, masterKey, volumeMaxBytes, log });
    } finally {
      await git.close();
      await opened.close();
    }
  })();
}

/** The master key for a backup: the configured one, or that of the data folder. */
export function keyFor({ masterKey, dataDir }: Config, withKey: boolean): Buffer | null {
  return withKey ? (masterKey ?? loadMasterKey(dataDir)) : null;
}

interface Output {
  name: string;
  bytes(): number;
  write(piece: Uint8Array): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

/** Has a temporary name until it is complete and on the disk. */
async function newFile(path: string): Promise<Output> {
  if ((await stat(path).catch(() => null)) !== null)
    throw new BackupError(`The file ${path} already exists. Choose another name, or remove it.`);
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await openFile(unfinished, "wx", 0o600).catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error)) throw error;
    throw new BackupError(
      `Cannot write ${path} (${error.code}). Name a file in a folder that exists and that this user can write: --out <file>`,
    );
  });
  let size = 0;
  return {
    name: path,
    bytes: () => size,
    async write(piece) {
      await file.writeFile(piece);
      size += piece.byteLength;
    },
    async finish() {
      await file.sync();
      await file.close();
      await rename(unfinished, path);
      await syncDirectory(dirname(path));
    },
    async discard() {
      await file.close().catch(() => {});
      await rm(unfinished, { force: true });
    },
  };
}

function standardOutput(): Output {
  if (process.stdout.isTTY)
    throw new BackupError("A backup is not text. Redirect the output, or name a file: --out backup.tar");
  let size = 0;
  return {
    name: "standard output",
    bytes: () => size,
    async write(piece) {
      size += piece.byteLength;
      await new Promise<void>((done, fail) => {
        process.stdout.write(piece, (error) => (error ? fail(error) : done()));
      });
    },
    async finish() {},
    async discard() {},
  };
}

async function* tee(
  source: AsyncIterable<Uint8Array>,
  write: (piece: Uint8Array) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    await write(piece);
    yield piece;
  }
}

/** Ends with the signal's reason. */
export async function* until(
  signal: AbortSignal,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    signal.throwIfAborted();
    yield piece;
  }
  signal.throwIfAborted();
}
