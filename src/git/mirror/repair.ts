import { createShare } from "../../lib/coalesce.ts";
import type { RemoteRepository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import type { FetchFailure } from "../run/failure.ts";
import { type Fetcher, fetchKey } from "./fetcher.ts";
import { isDamaged } from "./inspect.ts";
import type { Mirror } from "./mirror.ts";
import type { OpenMirrors } from "./open-mirrors.ts";
import { rebuildMirror } from "./rebuild.ts";
import { openMirror } from "./store.ts";

/** A mirror that seems damaged is inspected at most this often; half as often each time that does not help. */
const INSPECT_PAUSE_MS = 60_000;
const INSPECT_PAUSE_MAX_MS = 60 * 60_000;

export interface Repairer {
  /**
   * Replaces a mirror that may be damaged, if it is.
   * @returns why it could not be replaced, or whether it was; `kept` also when it was inspected just now
   */
  repair(repo: RemoteRepository, suspect: Mirror | null): Promise<FetchFailure | "kept" | "replaced">;
  forget(id: string): void;
}

export function createRepairer(engine: Engine, open: OpenMirrors, fetcher: Fetcher): Repairer {
  const share = createShare<FetchFailure | "kept" | "replaced">();
  const inspected = new Map<string, { nextAt: number; pauseMs: number }>();
  return { repair, forget: (id) => void inspected.delete(id) };

  function repair(repo: RemoteRepository, suspect: Mirror | null): ReturnType<Repairer["repair"]> {
    return share(fetchKey(repo), async () => {
      if ((await open.find(repo)) !== suspect) return "replaced";
      if (!suspect || !claimInspection(repo.id) || !(await isDamaged(engine, suspect))) return "kept";
      engine.log.warn({ repo: repo.id }, "the mirror is damaged and is rebuilt");
      return (await fetcher.attempt(repo, () => rebuild(repo, suspect))) ?? "replaced";
    });
  }

  function claimInspection(id: string): boolean {
    const last = inspected.get(id);
    if (last && performance.now() < last.nextAt) return false;
    delayInspection(id, last ? Math.min(last.pauseMs * 2, INSPECT_PAUSE_MAX_MS) : INSPECT_PAUSE_MS);
    return true;
  }

  function delayInspection(id: string, pauseMs: number): void {
    inspected.set(id, { nextAt: performance.now() + pauseMs, pauseMs });
  }

  async function rebuild(repo: RemoteRepository, damaged: Mirror): Promise<FetchFailure | null> {
    const failure = await rebuildMirror(engine, {
      repo,
      damaged,
      signal: open.deletion(repo.id),
      write: (work) => open.write(damaged, work),
    });
    open.requireKept(repo.id);
    if (failure) return failure;
    damaged.objects.stop();
    await open.set(repo, openMirror(engine, repo));
    delayInspection(repo.id, INSPECT_PAUSE_MS);
    engine.log.info({ repo: repo.id }, "the mirror has been rebuilt");
    return null;
  }
}
