import { SvcError } from "../../contract/errors.ts";
import { createShare } from "../../lib/coalesce.ts";
import { within } from "../../lib/within.ts";
import { type Branches, isRemote, type RemoteRepository, type Repository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import { type FetchFailure, MirrorSuspect } from "../run/failure.ts";
import { createBackoff } from "./backoff.ts";
import { cleanUp } from "./clean-up.ts";
import { holds, names, tips } from "./completeness.ts";
import { fetchBranches } from "./fetch.ts";
import { isDamaged } from "./inspect.ts";
import { maintain } from "./maintain.ts";
import {
  createHosted,
  createMirror,
  discardHosted,
  discardMirror,
  type Mirror,
  markComplete,
  openHosted,
  openMirror,
} from "./mirror.ts";
import { rebuildMirror } from "./rebuild.ts";

/** The mirrors of this process: who opens, fills, repairs and deletes them. */
export interface Mirrors {
  /** Makes sure that commits are there with their history; false when the remote has one of them on no branch. */
  ensure(repo: Repository, commits: readonly string[]): Promise<boolean>;
  /** Whether a commit is there with its history, as the mirror is now. */
  has(repo: Repository, commit: string): Promise<boolean>;
  /**
   * Works on a mirror that holds `commits`. When it turns out to be damaged, it is rebuilt from the remote once, and the
   * work is done again.
   */
  use<T>(repo: Repository, commits: readonly string[], work: (mirror: Mirror) => Promise<T>): Promise<T>;
  /**
   * The mirror with the remote's branches and tags as they are now; what svc hosts is always so.
   * @param list tells the branches of the remote, from which a new mirror learns the object format
   */
  refresh(repo: Repository, list: (remote: RemoteRepository) => Promise<Branches>): Promise<Mirror>;
  /**
   * Changes refs of a mirror while no fetch does: a fetch that began before would take the change back.
   * @param work gets a signal that ends it when the repository is deleted
   */
  write<T>(mirror: Mirror, work: (end: AbortSignal) => Promise<T>): Promise<T>;
  /** Makes an empty repository that svc hosts. */
  host(repo: Repository, branch: string): Promise<void>;
  /** Repacks in the background when it is due. */
  lookAfter(mirror: Mirror): void;
  /** Deletes a repository's folder for good: what is still under way for it ends, and nothing makes it again. */
  forget(id: string): Promise<void>;
  /** Waits for what runs in the background. */
  settled(): Promise<void>;
}

/** A mirror that seemed damaged is inspected again after this at the earliest; twice as long while that does not help. */
const INSPECT_PAUSE_MS = 60_000;
const INSPECT_PAUSE_MAX_MS = 60 * 60_000;
/** Deleted repositories that are remembered: more than are deleted while one fetch runs. */
const DELETED_MAX = 10_000;

export function createMirrors(engine: Engine): Mirrors {
  const open = new Map<string, { url: string | null; mirror: Promise<Mirror | null> }>();
  const shareFetch = createShare<FetchFailure | null>();
  const shareRepair = createShare<FetchFailure | "kept" | "replaced">();
  const backoff = createBackoff(engine.log);
  /** Mirrors that seemed damaged and were inspected. */
  const inspected = new Map<string, { nextAt: number; pauseMs: number }>();
  /** Ends what is under way for a repository; aborted: it was deleted. */
  const ends = new Map<string, AbortController>();
  const background = new Set<Promise<unknown>>();

  return { ensure, has, use, refresh, write, host, lookAfter, forget, settled };

  async function ensure(repo: Repository, commits: readonly string[]): Promise<boolean> {
    for (const commit of commits)
      if (!OBJECT_ID.test(commit)) throw new TypeError("a commit must be a full object id");
    const mirror = await find(repo);
    if (mirror && (await holds(engine, mirror, commits))) return true;
    if (!isRemote(repo)) return false;
    const failure = await fetchAgain(repo, formatOf(commits));
    const filled = await find(repo);
    if (filled && (await holds(engine, filled, commits))) return true;
    // one that was made just now is not what is broken
    if (failure && !(failure instanceof MirrorSuspect && filled && filled === mirror)) throw callers(failure);
    // the branches may be here, but not what they name
    if (!failure && !(filled && (await names(engine, filled, commits)))) return false;
    if (!(await repair(repo, filled))) {
      if (failure) throw callers(failure);
      return false;
    }
    const fresh = await find(repo);
    return fresh !== null && (await holds(engine, fresh, commits));
  }

  async function has(repo: Repository, commit: string): Promise<boolean> {
    const mirror = await find(repo);
    return mirror !== null && (await holds(engine, mirror, [commit]));
  }

  async function use<T>(
    repo: Repository,
    commits: readonly string[],
    work: (mirror: Mirror) => Promise<T>,
  ): Promise<T> {
    const mirror = await find(repo);
    let failure = new SvcError("merge_engine_failed", "The commits are not in the copy of the repository.");
    if (mirror) {
      try {
        return await work(mirror);
      } catch (error) {
        if (!(error instanceof MirrorSuspect)) throw error;
        failure = error.failure;
      }
    }
    if (!isRemote(repo)) throw mirror ? failure : missing();
    if (!mirror) await fetchOrThrow(repo, formatOf(commits));
    else if (!(await repair(repo, mirror))) throw failure;
    const fresh = await find(repo);
    if (!fresh || !(await holds(engine, fresh, commits))) throw failure;
    try {
      return await work(fresh);
    } catch (error) {
      throw callers(error);
    }
  }

  async function refresh(
    repo: Repository,
    list: (remote: RemoteRepository) => Promise<Branches>,
  ): Promise<Mirror> {
    const mirror = await find(repo);
    if (!isRemote(repo)) {
      if (mirror) return mirror;
      throw missing();
    }
    const format = mirror ? "sha1" : formatOf([...(await list(repo)).tips.values()]);
    const failure = await fetchAgain(repo, format);
    if (failure && !(failure instanceof MirrorSuspect && (await repair(repo, mirror))))
      throw callers(failure);
    const fresh = await find(repo);
    if (!fresh) throw new SvcError("merge_engine_failed", "The copy of the repository could not be made.");
    return fresh;
  }

  function write<T>(mirror: Mirror, work: (end: AbortSignal) => Promise<T>): Promise<T> {
    const turn = mirror.written.then(() => work(endOf(mirror.id).signal));
    mirror.written = turn.then(
      () => {},
      () => {},
    );
    return turn;
  }

  async function host(repo: Repository, branch: string): Promise<void> {
    await createHosted(engine, repo.id, branch);
    open.delete(repo.id);
  }

  async function find(repo: Repository): Promise<Mirror | null> {
    requireKept(repo.id);
    const known = open.get(repo.id);
    if (known?.url === repo.url) return known.mirror;
    return remember(
      repo,
      closeMirror(repo.id).then(() =>
        isRemote(repo) ? openMirror(engine, repo) : openHosted(engine, repo.id),
      ),
    );
  }

  function remember(repo: Repository, mirror: Promise<Mirror | null>): Promise<Mirror | null> {
    const entry = { url: repo.url, mirror };
    open.set(repo.id, entry);
    // a failure is not remembered: the next caller tries again
    mirror.catch(() => {
      if (open.get(repo.id) === entry) open.delete(repo.id);
    });
    return mirror;
  }

  /**
   * Fetches, unless the last attempt failed just now: then its reason is the answer until the next one is due.
   * @returns why it did not work, or null
   */
  async function fetchAgain(repo: RemoteRepository, format: "sha1" | "sha256"): Promise<FetchFailure | null> {
    const last = backoff.last(repo);
    const pause = last ? last.nextAt - performance.now() : 0;
    if (last && pause > 0) throw comeBack(last.reason, "Try again", pause);
    const fetched = shareFetch(fetchKey(repo), () => attempt(repo, () => fetchInto(repo, format)));
    if (!last) return await fetched;
    // it may fail after all callers have the reason
    fetched.catch(() => {});
    const { retryWaitMs } = engine.limits;
    return await within(fetched, retryWaitMs, () =>
      comeBack(last.reason, "svc is fetching it again: try again", retryWaitMs),
    );
  }

  async function fetchOrThrow(repo: RemoteRepository, format: "sha1" | "sha256"): Promise<void> {
    const failure = await fetchAgain(repo, format);
    if (failure) throw callers(failure);
  }

  /** Notes how a fetch ended. @throws SvcError `not_found` when the repository was deleted meanwhile */
  async function attempt(
    repo: RemoteRepository,
    work: () => Promise<FetchFailure | null>,
  ): Promise<FetchFailure | null> {
    const started = performance.now();
    const failure = await work();
    requireKept(repo.id);
    const reason = failure instanceof MirrorSuspect ? failure.failure : failure;
    if (!reason) backoff.reset(repo.id);
    // a server that shuts down says nothing about the remote
    else if (reason.code !== "unavailable") backoff.failed(repo, reason, performance.now() - started);
    return failure;
  }

  async function fetchInto(repo: RemoteRepository, format: "sha1" | "sha256"): Promise<FetchFailure | null> {
    const known = await find(repo);
    requireKept(repo.id);
    const mirror = known ?? (await remember(repo, createMirror(engine, repo, format)));
    if (!mirror) return null;
    const failure = await write(mirror, async (end) => {
      requireKept(repo.id);
      return await fetchBranches(engine, repo, mirror, end);
    });
    // git has inspected what it fetched
    if (!failure) markComplete(mirror, await tips(engine, mirror));
    lookAfter(mirror);
    return failure;
  }

  /**
   * Replaces a mirror that may be damaged, if it is.
   * @returns whether another mirror is in its place now; false also when it was inspected just now
   * @throws SvcError why a damaged one could not be replaced
   */
  async function repair(repo: RemoteRepository, suspect: Mirror | null): Promise<boolean> {
    const outcome = await shareRepair(fetchKey(repo), async () => {
      if ((await find(repo)) !== suspect) return "replaced";
      if (!suspect || !claimInspection(repo.id) || !(await isDamaged(engine, suspect))) return "kept";
      engine.log.warn({ repo: repo.id }, "the mirror is damaged and is rebuilt");
      return (await attempt(repo, () => rebuild(repo, suspect))) ?? "replaced";
    });
    if (typeof outcome !== "string") throw callers(outcome);
    return outcome === "replaced";
  }

  function claimInspection(id: string): boolean {
    const last = inspected.get(id);
    if (last && performance.now() < last.nextAt) return false;
    const pauseMs = last ? Math.min(last.pauseMs * 2, INSPECT_PAUSE_MAX_MS) : INSPECT_PAUSE_MS;
    inspected.set(id, { nextAt: performance.now() + pauseMs, pauseMs });
    return true;
  }

  async function rebuild(repo: RemoteRepository, damaged: Mirror): Promise<FetchFailure | null> {
    const failure = await rebuildMirror(engine, {
      repo,
      damaged,
      signal: endOf(repo.id).signal,
      write: (work) => write(damaged, work),
    });
    requireKept(repo.id);
    if (failure) return failure;
    damaged.objects.rest();
    await remember(repo, openMirror(engine, repo));
    inspected.set(repo.id, { nextAt: performance.now() + INSPECT_PAUSE_MS, pauseMs: INSPECT_PAUSE_MS });
    engine.log.info({ repo: repo.id }, "the mirror has been rebuilt");
    return null;
  }

  async function closeMirror(id: string): Promise<Mirror | null> {
    const known = open.get(id);
    open.delete(id);
    const mirror = (await known?.mirror.catch(() => null)) ?? null;
    mirror?.objects.rest();
    return mirror;
  }

  async function forget(id: string): Promise<void> {
    const end = endOf(id);
    end.abort();
    // the youngest come last
    ends.delete(id);
    ends.set(id, end);
    forgetOldest();
    const mirror = await closeMirror(id);
    await mirror?.written;
    await discardMirror(engine, id);
    await discardHosted(engine, id);
    inspected.delete(id);
    backoff.reset(id);
  }

  function endOf(id: string): AbortController {
    const end = ends.get(id) ?? new AbortController();
    ends.set(id, end);
    return end;
  }

  function forgetOldest(): void {
    const deleted = [...ends].filter(([, { signal }]) => signal.aborted);
    for (const [id] of deleted.slice(0, -DELETED_MAX)) ends.delete(id);
  }

  /** @throws SvcError `not_found` for a repository that was deleted */
  function requireKept(id: string): void {
    if (ends.get(id)?.signal.aborted) throw deleted();
  }

  function lookAfter(mirror: Mirror): void {
    inBackground(
      maintain(engine, mirror).then(() => (mirror.unclean ? write(mirror, () => cleanUp(mirror)) : null)),
    );
  }

  function inBackground(work: Promise<unknown>): void {
    const entry = work
      .catch((error: unknown) => engine.log.warn({ error: String(error) }, "looking after a mirror failed"))
      .finally(() => background.delete(entry));
    background.add(entry);
  }

  async function settled(): Promise<void> {
    await Promise.allSettled(background);
  }
}

/** A repository that svc hosts is on the disk of one server only. */
function missing(): SvcError {
  return new SvcError(
    "repo_unreachable",
    "The repository is not in this server's data folder. An operator can restore it from a backup.",
  );
}

/** The answer to what was asked of a project while it was deleted, or got another repository. */
function deleted(): SvcError {
  return new SvcError("not_found", "The project was deleted, or has another repository by now.");
}

/** Why the last attempt failed, and when to come back. */
function comeBack(reason: SvcError, advice: string, pause: number): SvcError {
  const seconds = Math.ceil(pause / 1000);
  const sentence = `${reason.message} ${advice} in ${seconds} s.`;
  return new SvcError(reason.code, sentence, reason.extra, { "Retry-After": String(seconds) });
}

/** What of an error is for the caller. */
function callers(error: unknown): unknown {
  return error instanceof MirrorSuspect ? error.failure : error;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** One mirror takes one fetch at a time, whoever asks; another URL is another mirror. */
function fetchKey(repo: RemoteRepository): string {
  return JSON.stringify([repo.id, repo.url]);
}

function formatOf(commits: readonly string[]): "sha1" | "sha256" {
  return commits[0]?.length === 64 ? "sha256" : "sha1";
}
