import { rm } from "node:fs/promises";
import type { RemoteRepository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import type { FetchFailure } from "../run/failure.ts";
import { copyOwnRefs } from "./copy-own-refs.ts";
import { fetchBranches } from "./fetch.ts";
import type { Mirror } from "./mirror.ts";
import { prepareMirror, replaceMirror } from "./store.ts";

interface Rebuild {
  repo: RemoteRepository;
  damaged: Mirror;
  signal: AbortSignal;
  /** Runs work while nothing else writes to the damaged mirror. */
  write<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Replaces a damaged mirror: fetches a new one beside it, copies the refs that only the damaged one holds, and swaps them.
 * Until then the damaged one is not changed, so that nothing is lost when the remote cannot be read.
 * @returns the error, or null
 */
export async function rebuildMirror(
  engine: Engine,
  { repo, damaged, signal, write }: Rebuild,
): Promise<FetchFailure | null> {
  const fresh = await prepareMirror(engine, repo, damaged.format);
  try {
    const failure = await fetchBranches(engine, repo, fresh, signal);
    if (failure) return failure;
    await write(async () => {
      const seen = await copyOwnRefs(engine, damaged, fresh);
      if (signal.aborted) return;
      await replaceMirror(engine, fresh, (aside, placed) => copyOwnRefs(engine, aside, placed, seen));
    });
    return null;
  } finally {
    fresh.objects.stop();
    await rm(fresh.directory, { recursive: true, force: true });
  }
}
