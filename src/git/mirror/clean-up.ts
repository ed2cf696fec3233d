import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Mirror } from "./mirror.ts";

/** An older lock is stale: git waits for a lock for two seconds and holds it for much less. */
const STALE_LOCK_MS = 5_000;
const POLL_MS = 50;

/** Files that block every later git: while `packed-refs.new` exists, no ref can be deleted. */
const LOCK = /\.lock$|^packed-refs\.new$/;
/** Incomplete packs, indexes and commit graphs, which only fetches and repacks write. */
const HALF_PACK = /^objects\/(?:pack|info)\/(?:.*\/)?(?:tmp_|\.tmp-)[^/]*$/;
/** An incomplete object; merges write them. */
const HALF_OBJECT = /^objects\/[0-9a-f]{2}\/tmp_[^/]*$/;
/** Incomplete files of svc, and of a git that received a push itself. */
const OTHER_HALF = /^(?:\.tmp-|objects\/(?:incoming-|tmp_))[^/]*$/;
const PACK = /^(objects\/pack\/pack-[0-9a-f]+)\.(?:pack|rev)$/;

/**
 * Removes the files of git processes that were killed while this process ran. Files that another running git may have
 * written must become old first; this waits for them, since the next command would fail on a lock.
 * Call it within `Mirrors.write`, so that no fetch is running.
 */
export async function cleanUp(mirror: Mirror): Promise<void> {
  if (!mirror.unclean) return;
  mirror.unclean = false;
  await removeHalfPacks(mirror);
  for (const name of await filesOf(mirror.directory))
    if (LOCK.test(name) || HALF_OBJECT.test(name)) await removeOld(join(mirror.directory, name));
}

/**
 * Removes incomplete packs of a git that was stopped: git does not, and they count towards the size of the mirror. While
 * a repack is running, this is left to the next clean-up. Call it within `Mirrors.write`.
 */
export async function removeHalfPacks(mirror: Mirror): Promise<void> {
  for (const name of await filesOf(mirror.directory)) {
    if (!HALF_PACK.test(name)) continue;
    if (mirror.maintaining) mirror.unclean = true;
    else await rm(join(mirror.directory, name), { recursive: true, force: true });
  }
}

/**
 * Removes incomplete packs from all repositories in a folder. Those of a server that was killed would otherwise take
 * space until the repository is used again. Only for the start, when no git is running.
 */
export async function removeAllHalfPacks(folder: string): Promise<void> {
  for (const repository of await readdir(folder).catch(() => [])) {
    for (const part of ["objects/pack", "objects/info"]) {
      for (const name of await readdir(join(folder, repository, part)).catch(() => [])) {
        if (!HALF_PACK.test(`${part}/${name}`)) continue;
        await rm(join(folder, repository, part, name), { recursive: true, force: true });
      }
    }
  }
}

async function filesOf(directory: string): Promise<string[]> {
  return await readdir(directory, { recursive: true }).catch(() => []);
}

/** Waits until a file is gone or stale. A file that is new again belongs to a running process. */
async function removeOld(path: string): Promise<void> {
  for (const end = Date.now() + STALE_LOCK_MS; ; await Bun.sleep(POLL_MS)) {
    const file = await stat(path).catch(() => null);
    if (!file) return;
    if (Date.now() - file.mtimeMs > STALE_LOCK_MS) return await rm(path, { force: true });
    if (Date.now() > end) return;
  }
}

/**
 * Removes incomplete files of an earlier process. Only this process uses the data directory, and it has not started
 * anything in this mirror yet, so all of them are stale. A pack without an index is incomplete.
 */
export async function removeLeftovers(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true });
  const all = new Set(names);
  const isStale = (name: string) => {
    const pack = PACK.exec(name)?.[1];
    if (pack !== undefined) return !all.has(`${pack}.idx`);
    return [LOCK, HALF_PACK, HALF_OBJECT, OTHER_HALF].some((pattern) => pattern.test(name));
  };
  for (const name of names.filter(isStale)) {
    await rm(join(directory, name), { recursive: true, force: true });
  }
}
