import { SvcError } from "../contract/errors.ts";
import { cleanUp } from "./clean-up.ts";
import { createShare } from "./coalesce.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, MirrorDamaged } from "./failure.ts";
import { fetchBranches } from "./fetch.ts";
import { type Branches, isRemote, type RemoteRepository, type Repository } from "./git.ts";
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

/** The mirrors of this process: who opens, fills, repairs and deletes them. */
export interface Mirrors {
  /** Makes sure that commits are there with their history; false when the remote has one of them on no branch. */
  ensure(repo: Repository, commits: readonly string[]): Promise<boolean>;
  /** Whether a commit is there with its history, as the mirror is now. */
  has(repo: Repository, commit: string): Promise<boolean>;
  /**
   * Works on a mirror that holds `commits`. When it turns out to be damaged, it is made anew from the remote once and
   * the work is done again.
   */
  use<T>(repo: Repository, commits: readonly string[], work: (mirror: Mirror) => Promise<T>): Promise<T>;
  /**
   * The mirror with the remote's branches and tags as they are now; what svc hosts is always so.
   * @param list tells the branches of the remote, from which a new mirror learns the object format
   */
  refresh(repo: Repository, list: (remote: RemoteRepository) => Promise<Branches>): Promise<Mirror>;
  /** Changes refs of a mirror while no fetch does: a fetch that began before would take the change back. */
  write<T>(mirror: Mirror, work: () => Promise<T>): Promise<T>;
  /** Makes an empty repository that svc hosts. */
  host(repo: Repository, branch: string): Promise<void>;
  /** Repacks in the background when it is due. */
  lookAfter(mirror: Mirror): void;
  forget(id: string): Promise<void>;
  /** Waits for what runs in the background. */
  settled(): Promise<void>;
}

/** A mirror that breaks again this soon is not made anew once more: something keeps breaking it. */
const REPAIR_EVERY_MS = 60_000;

export function createMirrors(engine: Engine): Mirrors {
  const open = new Map<string, { url: string | null; mirror: Promise<Mirror | null> }>();
  const shareFetch = createShare<SvcError | MirrorDamaged | null>();
  const repaired = new Map<string, number>();
  const background = new Set<Promise<unknown>>();

  return { ensure, has, use, refresh, write, host, lookAfter, forget, settled };

  async function ensure(repo: Repository, commits: readonly string[]): Promise<boolean> {
    for (const commit of commits)
      if (!OBJECT_ID.test(commit)) throw new TypeError("a commit must be a full object id");
    const mirror = await find(repo);
    if (mirror && (await holds(mirror, commits))) return true;
    if (!isRemote(repo)) return false;
    const failure = await shareFetch(fetchKey(repo), () => fetchInto(repo, formatOf(commits)));
    const filled = await find(repo);
    if (filled && (await holds(filled, commits))) return true;
    // one that was made just now is not what is broken
    if (failure && !(failure instanceof MirrorDamaged && filled && filled === mirror)) throw callers(failure);
    // the branches may be here, but not what they name
    if (!failure && !(filled && (await names(filled, commits)))) return false;
    const damage = new SvcError("merge_engine_failed", "The copy of the repository is damaged.");
    await repair(repo, commits, filled, failure instanceof MirrorDamaged ? failure.failure : damage);
    const fresh = await find(repo);
    return fresh !== null && (await holds(fresh, commits));
  }

  async function has(repo: Repository, commit: string): Promise<boolean> {
    const mirror = await find(repo);
    return mirror !== null && (await holds(mirror, [commit]));
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
        if (!(error instanceof MirrorDamaged)) throw error;
        failure = error.failure;
      }
    }
    if (!isRemote(repo)) throw mirror ? failure : missing();
    await repair(repo, commits, mirror, failure);
    const fresh = await find(repo);
    if (!fresh || !(await holds(fresh, commits))) throw failure;
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
    const failure = await shareFetch(fetchKey(repo), () => fetchInto(repo, format));
    const filled = await find(repo);
    if (failure instanceof MirrorDamaged) await repair(repo, [], filled, failure.failure);
    else if (failure) throw failure;
    const fresh = await find(repo);
    if (!fresh) throw new SvcError("merge_engine_failed", "The copy of the repository could not be made.");
    return fresh;
  }

  function write<T>(mirror: Mirror, work: () => Promise<T>): Promise<T> {
    const turn = mirror.written.then(work);
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

  async function fetchInto(
    repo: RemoteRepository,
    format: "sha1" | "sha256",
  ): Promise<SvcError | MirrorDamaged | null> {
    const mirror = (await find(repo)) ?? (await remember(repo, createMirror(engine, repo, format)));
    if (!mirror) return null;
    const failure = await write(mirror, () => fetchBranches(engine, repo, mirror));
    // git has looked itself whether what it fetched is whole
    if (!failure) markComplete(mirror, await tips(mirror));
    lookAfter(mirror);
    return failure;
  }

  /** Whether commits are in the mirror with all that they reach. */
  async function holds(mirror: Mirror, commits: readonly string[]): Promise<boolean> {
    const unsure = commits.filter((commit) => !mirror.complete.has(commit));
    if (unsure.length === 0) return true;
    const found = await Promise.all(unsure.map((commit) => isCommit(mirror, commit)));
    if (found.includes(false)) return false;
    if (!(await reachesAll(mirror, unsure))) return false;
    markComplete(mirror, unsure);
    return true;
  }

  async function isCommit(mirror: Mirror, commit: string): Promise<boolean> {
    const info = await mirror.objects.info(commit).catch(() => null);
    return info?.type === "commit";
  }

  /** A fetch that was cut off can leave a commit without its history; what branches reach was checked by the fetch. */
  async function reachesAll(mirror: Mirror, commits: readonly string[]): Promise<boolean> {
    const result = await engine.checks(mirror.id, () =>
      engine.runner.run({
        args: ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"],
        environment: mirror.environment,
        stdin: `${commits.join("\n")}\n`,
        deadlineMs: engine.limits.mergeMs,
        memory: engine.limits.mergeMemory,
        outputBytes: engine.limits.outputBytes,
      }),
    );
    if (result.stopped) throw engineFailure(engine, "checking the repository", result);
    return result.code === 0;
  }

  /** Whether every one of these commits is the tip of a branch of the mirror. */
  async function names(mirror: Mirror, commits: readonly string[]): Promise<boolean> {
    const named = new Set(await tips(mirror));
    return named.size === 0 || commits.every((commit) => named.has(commit));
  }

  /** The commits that the mirror's branches name; none when git could not tell. */
  async function tips(mirror: Mirror): Promise<string[]> {
    const result = await engine.runner.run({
      args: ["for-each-ref", "--format=%(objectname)", "refs/heads"],
      environment: mirror.environment,
      deadlineMs: engine.limits.mergeMs,
      outputBytes: engine.limits.outputBytes,
    });
    return result.code === 0 ? new TextDecoder().decode(result.stdout).split("\n").filter(Boolean) : [];
  }

  /** Makes a mirror anew, unless somebody else has just done it. */
  async function repair(
    repo: RemoteRepository,
    commits: readonly string[],
    damaged: Mirror | null,
    failure: SvcError,
  ): Promise<void> {
    const failed = await shareFetch(fetchKey(repo), async () => {
      if ((await find(repo)) !== damaged) return null;
      const last = repaired.get(repo.id);
      if (last !== undefined && performance.now() - last < REPAIR_EVERY_MS) return failure;
      repaired.set(repo.id, performance.now());
      engine.log.warn({ repo: repo.id }, "the mirror is damaged and is made anew");
      await remember(repo, discard(repo.id, damaged));
      return await fetchInto(repo, formatOf(commits));
    });
    if (failed) throw callers(failed);
  }

  async function discard(id: string, mirror: Mirror | null): Promise<null> {
    mirror?.objects.rest();
    await discardMirror(engine, id);
    return null;
  }

  async function closeMirror(id: string): Promise<void> {
    const known = open.get(id);
    open.delete(id);
    const mirror = await known?.mirror.catch(() => null);
    mirror?.objects.rest();
  }

  async function forget(id: string): Promise<void> {
    await closeMirror(id);
    await discardMirror(engine, id);
    await discardHosted(engine, id);
    repaired.delete(id);
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

/** What of an error is for the caller. */
function callers(error: unknown): unknown {
  return error instanceof MirrorDamaged ? error.failure : error;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** One mirror takes one fetch at a time, whoever asks; another URL is another mirror. */
function fetchKey(repo: RemoteRepository): string {
  return JSON.stringify([repo.id, repo.url]);
}

function formatOf(commits: readonly string[]): "sha1" | "sha256" {
  return commits[0]?.length === 64 ? "sha256" : "sha1";
}
