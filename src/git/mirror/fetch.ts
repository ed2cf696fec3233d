import { diskFull } from "../../contract/disk-full.ts";
import type { RemoteRepository } from "../git.ts";
import { openRemote } from "../remote/remote.ts";
import type { Engine } from "../run/engine.ts";
import { type FetchFailure, fetchFailure } from "../run/failure.ts";
import { cleanUp, removeHalfPacks } from "./clean-up.ts";
import { isOutOfSpace } from "./disk-space.ts";
import { type Mirror, packBytes } from "./mirror.ts";

/**
 * Brings the remote's branches and tags into the mirror as they are now, with their whole history; those that are gone
 * there go here too, the commits kept under refs/cr/ and refs/svc/ stay. Not `--atomic`: a branch `a` that became `a/b` could not
 * change in one transaction.
 * @returns why it did not work, or null. A remote with one branch whose name no disk can hold fails like this and has
 * still brought all commits: look for what you need before you give up.
 */
export function fetchBranches(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  signal: AbortSignal,
): Promise<FetchFailure | null> {
  const refspecs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
  return fetchInto(engine, repo, mirror, refspecs, signal);
}

/** Brings one ref into the mirror as it is on the host, if it is there. @returns why it did not work, or null */
export function fetchRef(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  ref: string,
  signal: AbortSignal,
): Promise<FetchFailure | null> {
  return fetchInto(engine, repo, mirror, [`+${ref}:${ref}`], signal);
}

async function fetchInto(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  refspecs: readonly string[],
  signal: AbortSignal,
): Promise<FetchFailure | null> {
  await using remote = await openRemote(engine.remote, repo);
  await cleanUp(mirror);
  const before = await packBytes(mirror);
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
        ...refspecs,
      ],
      environment: { ...remote.environment, GIT_DIR: mirror.directory },
      deadlineMs: engine.limits.fetchMs,
      memory: engine.limits.fetchMemory,
      diskFull: async () => (await packBytes(mirror)) > Math.max(engine.limits.mirrorBytes, before),
      outputBytes: engine.limits.outputBytes,
      signal,
    }),
  );
  if (result.code !== 0) await removeHalfPacks(mirror);
  if (result.code === null) mirror.unclean = true;
  // git leaves out what a shallow remote cuts off, and only warns
  const isShallow = /shallow (?:roots are|update) not allowed/.test(result.stderr);
  if (result.code === 0 && !isShallow) return null;
  if (result.code !== 0 && (await isOutOfSpace(mirror.directory))) return diskFull();
  return fetchFailure(engine, remote, result);
}
