import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type Config, readConfig } from "./config.ts";
import { CliError, systemCode } from "./failure.ts";

/** A writer holds the lock for milliseconds; an older one was left by a process that died. */
const LOCK_STALE_MS = 10_000;
/** How long to wait for the other writers. */
const LOCK_WAIT_MS = 15_000;

/**
 * Updates the configuration atomically, under a lock file. The file has mode 0600 in a folder of mode 0700, because it
 * holds tokens.
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
      {
        hint: "Check the permissions of the file and of its folder, or set SVC_CONFIG_FILE to another file.",
      },
    );
  }
}

/**
 * Checks before a sign-in that its token can be stored.
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
    throw new CliError("file", `Cannot store the token: ${dirname(path)} is not writable (${code}).`);
  }
}

/** Replaces a file atomically: writes a temporary file beside it and renames it. */
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

/** Makes the rename durable. Some file systems cannot, which is not an error. */
export async function syncFolder(path: string): Promise<void> {
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
    await removeStaleLock(path);
    if (Date.now() > deadline) {
      throw new CliError("config_busy", `Another svc is writing the configuration: ${path} stays locked.`, {
        hint: "If no other svc runs, delete that file.",
      });
    }
    await Bun.sleep(5 + Math.random() * 20);
  }
}

async function release(path: string, mark: string): Promise<void> {
  const content = await readFile(path, "utf8").catch(() => "");
  if (content === mark) await rm(path, { force: true });
}

/** Only one waiter may remove a stale lock: a second one could remove the lock that a third has created since. */
async function removeStaleLock(path: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs <= LOCK_STALE_MS) return;
    // Named after this lock's time: if a killed waiter leaves it, it does not block a later lock.
    const taking = `${path}.${Math.trunc(mtimeMs)}`;
    await (await open(taking, "wx", 0o600)).close();
    try {
      if ((await stat(path)).mtimeMs === mtimeMs) await unlink(path);
    } finally {
      await unlink(taking);
    }
  } catch {}
}
