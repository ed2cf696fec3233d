import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Mirror } from "./mirror.ts";

/** A lock this old belongs to nobody: those who want one wait for two seconds, and hold it for much less. */
const STALE_LOCK_MS = 5_000;
const POLL_MS = 50;

/** What stands in the way of every later git: with `packed-refs.new` there, no ref can be deleted any more. */
const LOCK = /\.lock$|^packed-refs\.new$/;
/** Halves of packs, of their indexes and of commit graphs: only fetches and repacks write them. */
const HALF_PACK = /^objects\/(?:pack|info)\/(?:.*\/)?(?:tmp_|\.tmp-)[^/]*$/;
/** Half of an object; a merge writes them. */
const HALF_OBJECT = /^objects\/[0-9a-f]{2}\/tmp_[^/]*$/;
/** svc's own, and those of a git that received a push by itself. */
const OTHER_HALF = /^(?:\.tmp-|objects\/(?:incoming-|tmp_))[^/]*$/;
const PACK = /^(objects\/pack\/pack-[0-9a-f]+)\.(?:pack|rev)$/;

/**
 * Removes what git processes left that were killed while this one ran. Others may be at work, so what they could have
 * made has to become old first, and is waited for: whatever comes next would only fail on a lock.
 * For whoever has the turn to write (`Mirrors.write`), so that no fetch is under way.
 */
export async function cleanUp(mirror: Mirror): Promise<void> {
  if (!mirror.unclean) return;
  mirror.unclean = false;
  await removeHalfPacks(mirror);
  for (const name of await filesOf(mirror.directory))
    if (LOCK.test(name) || HALF_OBJECT.test(name)) await removeOld(join(mirror.directory, name));
}

/**
 * Removes what came of packs before their git was stopped: git does not, and it counts in the size of the mirror.
 * While a repack is under way, that waits for the next clean-up. For whoever has the turn to write.
 */
export async function removeHalfPacks(mirror: Mirror): Promise<void> {
  for (const name of await filesOf(mirror.directory)) {
    if (!HALF_PACK.test(name)) continue;
    if (mirror.maintaining) mirror.unclean = true;
    else await rm(join(mirror.directory, name), { recursive: true, force: true });
  }
}

/**
 * Removes half-written packs from all repositories in a folder. Those of a server that was killed would stay, and take
 * space, until somebody uses the repository again. Only for the start, when no git is at work.
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

/** Waits until it is gone, or old and nobody's. One that is young again was made by somebody who is alive. */
async function removeOld(path: string): Promise<void> {
  for (const end = Date.now() + STALE_LOCK_MS; ; await Bun.sleep(POLL_MS)) {
    const file = await stat(path).catch(() => null);
    if (!file) return;
    if (Date.now() - file.mtimeMs > STALE_LOCK_MS) return await rm(path, { force: true });
    if (Date.now() > end) return;
  }
}

/**
 * Removes what an earlier process left: the data directory belongs to this process alone, and it has not started
 * anything in this mirror yet, so all of it is nobody's. A pack without an index was still coming in.
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
