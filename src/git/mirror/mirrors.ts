import { SvcError } from "../../contract/errors.ts";
import { type Branches, isRemote, type RemoteRepository, type Repository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import { MirrorSuspect } from "../run/failure.ts";
import { cleanUp } from "./clean-up.ts";
import { holds, names } from "./completeness.ts";
import { createFetcher, type Fetcher } from "./fetcher.ts";
import { maintain as maintainMirror } from "./maintain.ts";
import type { Mirror } from "./mirror.ts";
import { createOpenMirrors, type OpenMirrors } from "./open-mirrors.ts";
import { createRepairer, type Repairer } from "./repair.ts";
import { createHosted, discardHosted, discardMirror } from "./store.ts";

/** Opens, fetches, repairs and deletes the mirrors of this process. */
export class Mirrors {
  readonly #engine: Engine;
  readonly #open: OpenMirrors;
  readonly #fetcher: Fetcher;
  readonly #repairer: Repairer;
  readonly #background = new Set<Promise<unknown>>();

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#open = createOpenMirrors(engine);
    this.#fetcher = createFetcher(engine, this.#open, (mirror) => this.maintain(mirror));
    this.#repairer = createRepairer(engine, this.#open, this.#fetcher);
  }

  /** Makes sure that a mirror has commits with their history; false when one of them is on no branch of the remote. */
  async ensure(repo: Repository, commits: readonly string[]): Promise<boolean> {
    for (const commit of commits)
      if (!OBJECT_ID.test(commit)) throw new TypeError("a commit must be a full object id");
    const mirror = await this.#open.find(repo);
    if (mirror && (await holds(this.#engine, mirror, commits))) return true;
    if (!isRemote(repo)) return false;
    const failure = await this.#fetcher.fetch(repo, formatOf(commits));
    const filled = await this.#open.find(repo);
    if (filled && (await holds(this.#engine, filled, commits))) return true;
    // a mirror that was just created is not damaged
    if (failure && !(failure instanceof MirrorSuspect && filled && filled === mirror)) throw callers(failure);
    // the branches may exist without their commits
    if (!failure && !(filled && (await names(this.#engine, filled, commits)))) return false;
    if (!(await this.#repair(repo, filled))) {
      if (failure) throw callers(failure);
      return false;
    }
    const fresh = await this.#open.find(repo);
    return fresh !== null && (await holds(this.#engine, fresh, commits));
  }

  /** Whether a mirror has a commit with its history, without fetching. */
  async has(repo: Repository, commit: string): Promise<boolean> {
    const mirror = await this.#open.find(repo);
    return mirror !== null && (await holds(this.#engine, mirror, [commit]));
  }

  /**
   * Runs work on a mirror that holds `commits`. If the mirror is damaged, it is rebuilt from the remote once, and the work
   * is repeated.
   */
  async use<T>(
    repo: Repository,
    commits: readonly string[],
    work: (mirror: Mirror) => Promise<T>,
  ): Promise<T> {
    const mirror = await this.#open.find(repo);
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
    const unfetched = mirror ? null : await this.#fetcher.fetch(repo, formatOf(commits));
    if (unfetched) throw callers(unfetched);
    if (mirror && !(await this.#repair(repo, mirror))) throw failure;
    const fresh = await this.#open.find(repo);
    if (!fresh || !(await holds(this.#engine, fresh, commits))) throw failure;
    try {
      return await work(fresh);
    } catch (error) {
      throw callers(error);
    }
  }

  /**
   * The mirror after a fetch of the remote's branches and tags; a repository that svc hosts is not fetched.
   * @param list lists the branches of the remote, which determine the object format of a new mirror
   */
  async refresh(repo: Repository, list: (remote: RemoteRepository) => Promise<Branches>): Promise<Mirror> {
    const mirror = await this.#open.find(repo);
    if (!isRemote(repo)) {
      if (mirror) return mirror;
      throw missing();
    }
    const format = mirror ? "sha1" : formatOf([...(await list(repo)).tips.values()]);
    const failure = await this.#fetcher.fetch(repo, format);
    if (failure && !(failure instanceof MirrorSuspect && (await this.#repair(repo, mirror))))
      throw callers(failure);
    const fresh = await this.#open.find(repo);
    if (!fresh) throw new SvcError("merge_engine_failed", "The copy of the repository could not be created.");
    return fresh;
  }

  /**
   * Changes refs of a mirror while no fetch runs: a fetch that began before would revert the change.
   * @param work gets a signal that is aborted when the repository is deleted
   */
  write<T>(mirror: Mirror, work: (end: AbortSignal) => Promise<T>): Promise<T> {
    return this.#open.write(mirror, work);
  }

  /** Creates an empty repository that svc hosts. */
  async host(repo: Repository, branch: string): Promise<void> {
    await createHosted(this.#engine, repo.id, branch);
    await this.#open.close(repo.id);
  }

  /** Permanently deletes a repository's folder: aborts its operations and rejects later ones. */
  async forget(id: string): Promise<void> {
    this.#open.markDeleted(id);
    const mirror = await this.#open.close(id);
    await mirror?.written;
    await discardMirror(this.#engine, id);
    await discardHosted(this.#engine, id);
    this.#repairer.forget(id);
    this.#fetcher.reset(id);
  }

  /** Repacks in the background when it is due. */
  maintain(mirror: Mirror): void {
    const work = maintainMirror(this.#engine, mirror)
      .then(() => (mirror.unclean ? this.#open.write(mirror, () => cleanUp(mirror)) : null))
      .catch((error: unknown) =>
        this.#engine.log.warn({ error: String(error) }, "maintaining a mirror failed"),
      )
      .finally(() => this.#background.delete(work));
    this.#background.add(work);
  }

  /** Waits for background work. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#background);
  }

  /** @throws SvcError why a damaged mirror could not be replaced */
  async #repair(repo: RemoteRepository, suspect: Mirror | null): Promise<boolean> {
    const outcome = await this.#repairer.repair(repo, suspect);
    if (typeof outcome !== "string") throw callers(outcome);
    return outcome === "replaced";
  }
}

/** A repository that svc hosts is on the disk of one server only. */
function missing(): SvcError {
  return new SvcError(
    "repo_unreachable",
    "The repository is not in this server's data folder. An operator can restore it from a backup.",
  );
}

/** The error for the caller. */
function callers(error: unknown): unknown {
  return error instanceof MirrorSuspect ? error.failure : error;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function formatOf(commits: readonly string[]): "sha1" | "sha256" {
  return commits[0]?.length === 64 ? "sha256" : "sha1";
}
