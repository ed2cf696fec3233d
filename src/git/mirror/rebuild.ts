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
  /** Holds off everything else that writes to the damaged mirror. */
  write<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Replaces a damaged mirror: a new one is fetched beside it, gets what only the damaged one holds, and then takes its
 * place. Until then the damaged one stays as it is, so that nothing is lost when the remote cannot be read.
 * @returns why it did not work, or null
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
