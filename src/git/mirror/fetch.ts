import { diskFull } from "../../contract/disk-full.ts";
import type { RemoteRepository } from "../git.ts";
import { openRemote } from "../remote/remote.ts";
import type { Engine } from "../run/engine.ts";
import { type FetchFailure, fetchFailure } from "../run/failure.ts";
import { cleanUp, removeHalfPacks } from "./clean-up.ts";
import { isOutOfSpace } from "./disk-space.ts";
import { type Mirror, packBytes } from "./mirror.ts";

/**
 * Fetches the remote's branches and tags into the mirror, with their whole history, and prunes deleted ones; commits
 * under refs/cr/ and refs/svc/ stay. Not `--atomic`: a branch `a` that became `a/b` cannot change in one transaction.
 * @returns the error, or null. An error does not mean that commits are missing: a branch name that the disk cannot hold
 * fails the fetch after all commits have arrived.
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

/** Fetches one ref into the mirror, if the host has it. @returns the error, or null */
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
      stillMs: engine.limits.fetchStillMs,
      memory: engine.limits.fetchMemory,
      diskFull: async () => (await packBytes(mirror)) > Math.max(engine.limits.mirrorBytes, before),
      outputBytes: engine.limits.outputBytes,
      signal,
    }),
  );
  if (result.code !== 0) await removeHalfPacks(mirror);
  if (result.code === null) mirror.unclean = true;
  // git skips refs with a shallow history, and only warns
  const isShallow = /shallow (?:roots are|update) not allowed/.test(result.stderr);
  if (result.code === 0 && !isShallow) return null;
  if (result.code !== 0 && (await isOutOfSpace(mirror.directory))) return diskFull();
  return fetchFailure(engine, remote, result);
}
