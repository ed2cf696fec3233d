import { SvcError } from "../../contract/errors.ts";
import { createShare } from "../../lib/coalesce.ts";
import { within } from "../../lib/within.ts";
import type { RemoteRepository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import { type FetchFailure, MirrorSuspect } from "../run/failure.ts";
import { createBackoff } from "./backoff.ts";
import { tips } from "./completeness.ts";
import { fetchBranches } from "./fetch.ts";
import { type Mirror, markComplete } from "./mirror.ts";
import type { OpenMirrors } from "./open-mirrors.ts";
import { createMirror } from "./store.ts";

/** Fetches repositories into their mirrors, with backoff. */
export interface Fetcher {
  /**
   * Fetches, unless the last attempt failed just now: then its reason is the answer until the next one is due.
   * @returns why it did not work, or null
   */
  fetch(repo: RemoteRepository, format: Mirror["format"]): Promise<FetchFailure | null>;
  /**
   * Records the outcome of a fetch for the backoff.
   * @throws SvcError `not_found` when the repository was deleted meanwhile
   */
  attempt(repo: RemoteRepository, work: () => Promise<FetchFailure | null>): Promise<FetchFailure | null>;
  /** Forgets the failures of a repository. */
  reset(id: string): void;
}

/** @param onFetched called with each mirror after a fetch into it */
export function createFetcher(
  engine: Engine,
  open: OpenMirrors,
  onFetched: (mirror: Mirror) => void,
): Fetcher {
  const share = createShare<FetchFailure | null>();
  const backoff = createBackoff(engine.log);
  return { fetch, attempt, reset: backoff.reset };

  async function fetch(repo: RemoteRepository, format: Mirror["format"]): Promise<FetchFailure | null> {
    const last = backoff.last(repo);
    const pause = last ? last.nextAt - performance.now() : 0;
    if (last && pause > 0) throw retryLater(last.reason, "Try again", pause);
    const fetched = share(fetchKey(repo), () => attempt(repo, () => fetchInto(repo, format)));
    if (!last) return await fetched;
    // it may fail after all callers have the reason
    fetched.catch(() => {});
    const { retryWaitMs } = engine.limits;
    return await within(fetched, retryWaitMs, () =>
      retryLater(last.reason, "svc is fetching it again: try again", retryWaitMs),
    );
  }

  async function attempt(
    repo: RemoteRepository,
    work: () => Promise<FetchFailure | null>,
  ): Promise<FetchFailure | null> {
    const started = performance.now();
    const failure = await work();
    open.requireKept(repo.id);
    const reason = failure instanceof MirrorSuspect ? failure.failure : failure;
    if (!reason) backoff.reset(repo.id);
    // a server that shuts down says nothing about the remote
    else if (reason.code !== "unavailable") backoff.failed(repo, reason, performance.now() - started);
    return failure;
  }

  async function fetchInto(repo: RemoteRepository, format: Mirror["format"]): Promise<FetchFailure | null> {
    const known = await open.find(repo);
    open.requireKept(repo.id);
    const mirror = known ?? (await open.set(repo, createMirror(engine, repo, format)));
    if (!mirror) return null;
    const failure = await open.write(mirror, async (end) => {
      open.requireKept(repo.id);
      return await fetchBranches(engine, repo, mirror, end);
    });
    // git has inspected what it fetched
    if (!failure) markComplete(mirror, await tips(engine, mirror));
    onFetched(mirror);
    return failure;
  }
}

/** A mirror is fetched or repaired once at a time; another URL is another mirror. */
export function fetchKey(repo: RemoteRepository): string {
  return JSON.stringify([repo.id, repo.url]);
}

/** Why the last attempt failed, and when to try again. */
function retryLater(reason: SvcError, advice: string, pause: number): SvcError {
  const seconds = Math.ceil(pause / 1000);
  const sentence = `${reason.message} ${advice} in ${seconds} s.`;
  return new SvcError(reason.code, sentence, reason.extra, { "Retry-After": String(seconds) });
}
