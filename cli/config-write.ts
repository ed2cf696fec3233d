import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type Config, readConfig } from "./config.ts";
import { CliError, systemCode } from "./failure.ts";

/** A writer holds the lock for milliseconds; one this old was left behind by a process that died. */
const LOCK_STALE_MS = 10_000;
/** How long to wait for the other writers. */
const LOCK_WAIT_MS = 15_000;

/**
 * Changes the configuration. Writers take turns, each reads what the one before wrote, and a reader sees either the
 * whole of the old file or the whole of the new one. The file is 0600 in a 0700 folder, since it holds tokens.
 * @throws CliError `config_invalid` (the file stays as it is), `config_busy`, `file`.
 */
export async function updateConfig(path: string, change: (config: Config) => Config): Promise<Config> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const target = await realpath(path).catch(() => path);
    const release = await lock(`${target}.lock`);
    try {
      const next = change(await readConfig(target));
      await replace(target, `${JSON.stringify(next, null, 2)}\n`);
      return next;
    } finally {
      await release();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      "file",
      `The configuration cannot be written: ${path} (${systemCode(error) ?? "unknown error"}).`,
    );
  }
}

/**
 * Finds out before a sign-in whether its token could be stored.
 * @throws CliError as `updateConfig`.
 */
export async function checkWritable(path: string): Promise<void> {
  await readConfig(path);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const target = await realpath(path).catch(() => path);
    const probe = `${target}.${process.pid}.probe`;
    await (await open(probe, "wx", 0o600)).close();
    await unlink(probe);
  } catch (error) {
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `The token could not be stored: ${dirname(path)} is not writable (${code}).`);
  }
}

/** Writes a file beside its target and renames it over: nobody ever reads half of it. */
export async function replace(target: string, text: string, mode = 0o600): Promise<void> {
  const temporary = `${target}.${process.pid}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    const file = await open(temporary, "wx", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(target));
}

/** Makes the rename itself survive a power cut; some file systems cannot, which is no reason to fail. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {}
}

async function lock(path: string): Promise<() => Promise<void>> {
  const mark = `${process.pid} ${crypto.randomUUID()}`;
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      const file = await open(path, "wx", 0o600);
      await file.writeFile(mark).finally(() => file.close());
      return () => release(path, mark);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw error;
    }
    await takeAwayStale(path);
    if (Date.now() > deadline) {
      throw new CliError("config_busy", `Another svc is writing the configuration: ${path} stays locked.`, {
        hint: "If no other svc runs, delete that file.",
      });
    }
    await Bun.sleep(5 + Math.random() * 20);
  }
}

async function release(path: string, mark: string): Promise<void> {
  const held = await readFile(path, "utf8").catch(() => "");
  if (held === mark) await rm(path, { force: true });
}

/** One waiter at a time takes a dead lock away: of two that have both found it dead, the second would take a live one. */
async function takeAwayStale(path: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs <= LOCK_STALE_MS) return;
    // Of this very lock: left behind by a waiter that was killed, it is in nobody's way later.
    const taking = `${path}.${Math.trunc(mtimeMs)}`;
    await (await open(taking, "wx", 0o600)).close();
    try {
      if ((await stat(path)).mtimeMs === mtimeMs) await unlink(path);
    } finally {
      await unlink(taking);
    }
  } catch {}
}
