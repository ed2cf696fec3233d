import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SvcError } from "../contract/errors.ts";
import type { Engine } from "./engine.ts";
import { fetchFailure, type MirrorDamaged } from "./failure.ts";
import type { RemoteRepository } from "./git.ts";
import { type Mirror, packBytes, removeStaleLocks } from "./mirror.ts";
import { openRemote } from "./remote.ts";

/**
 * Brings the remote's branches and tags into the mirror as they are now, with their whole history; those that are gone
 * there go here too, the commits kept under refs/cr/ stay. Not `--atomic`: a branch `a` that became `a/b` could not
 * change in one transaction.
 * @returns why it did not work, or null. A remote with one branch whose name no disk can hold fails like this and has
 * still brought all commits: look for what you need before you give up.
 */
export async function fetchBranches(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
): Promise<SvcError | MirrorDamaged | null> {
  await using remote = await openRemote(engine.remote, repo);
  const before = await packBytes(mirror);
  await removeStaleLocks(mirror);
  const result = await engine.network(repo.id, () =>
    engine.runner.run({
      args: [
        "fetch",
        "--quiet",
        "--force",
        "--prune",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--no-show-forced-updates",
        "--",
        remote.url,
        "+refs/heads/*:refs/heads/*",
        "+refs/tags/*:refs/tags/*",
      ],
      environment: { ...remote.environment, GIT_DIR: mirror.directory },
      deadlineMs: engine.limits.fetchMs,
      memory: engine.limits.fetchMemory,
      diskFull: async () => (await packBytes(mirror)) > Math.max(engine.limits.mirrorBytes, before),
      outputBytes: engine.limits.outputBytes,
    }),
  );
  if (result.code !== 0) await removeHalfPacks(mirror);
  if (result.code === null) mirror.unclean = true;
  // git leaves out what a shallow remote cuts off, and only warns
  const isShallow = /shallow (?:roots are|update) not allowed/.test(result.stderr);
  return result.code === 0 && !isShallow ? null : fetchFailure(engine, remote, result);
}

/** What a stopped fetch had received so far: git would not remove it, and it counts in the size of the mirror. */
async function removeHalfPacks(mirror: Mirror): Promise<void> {
  const packs = join(mirror.directory, "objects", "pack");
  const names = await readdir(packs).catch(() => []);
  for (const name of names) if (name.startsWith("tmp_")) await rm(join(packs, name), { force: true });
}
