import { SvcError } from "../../contract/errors.ts";
import { isRemote, type Repository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import type { Mirror } from "./mirror.ts";
import { openHosted, openMirror } from "./store.ts";

/** The mirrors that this process has open, and the repositories that it has deleted. */
export interface OpenMirrors {
  /** @throws SvcError `not_found` when the repository was deleted; a failure to open it is not remembered */
  find(repo: Repository): Promise<Mirror | null>;
  /** Replaces the open mirror of a repository. */
  set(repo: Repository, mirror: Promise<Mirror | null>): Promise<Mirror | null>;
  /** @returns the mirror that was open */
  close(id: string): Promise<Mirror | null>;
  /** Changes refs of a mirror while nothing else does. `work` gets the signal of `deletion`. */
  write<T>(mirror: Mirror, work: (end: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborted when the repository is deleted. */
  deletion(id: string): AbortSignal;
  /** Aborts everything under way for a repository, and rejects later requests for it. */
  markDeleted(id: string): void;
  /** @throws SvcError `not_found` when the repository was deleted */
  requireKept(id: string): void;
}

/** Deleted repositories that are remembered: more than are deleted while one fetch runs. */
const DELETED_MAX = 10_000;

export function createOpenMirrors(engine: Engine): OpenMirrors {
  const open = new Map<string, { url: string | null; mirror: Promise<Mirror | null> }>();
  const ends = new Map<string, AbortController>();
  return {
    find,
    set,
    close,
    write,
    deletion: (id) => endOf(id).signal,
    markDeleted(id) {
      const end = endOf(id);
      end.abort();
      // the youngest come last
      ends.delete(id);
      ends.set(id, end);
      const deleted = [...ends].filter(([, { signal }]) => signal.aborted);
      for (const [oldest] of deleted.slice(0, -DELETED_MAX)) ends.delete(oldest);
    },
    requireKept,
  };

  async function find(repo: Repository): Promise<Mirror | null> {
    requireKept(repo.id);
    const known = open.get(repo.id);
    if (known?.url === repo.url) return known.mirror;
    const opened = () => (isRemote(repo) ? openMirror(engine, repo) : openHosted(engine, repo.id));
    return set(repo, close(repo.id).then(opened));
  }

  function set(repo: Repository, mirror: Promise<Mirror | null>): Promise<Mirror | null> {
    const entry = { url: repo.url, mirror };
    open.set(repo.id, entry);
    mirror.catch(() => {
      if (open.get(repo.id) === entry) open.delete(repo.id);
    });
    return mirror;
  }

  async function close(id: string): Promise<Mirror | null> {
    const known = open.get(id);
    open.delete(id);
    const mirror = (await known?.mirror.catch(() => null)) ?? null;
    mirror?.objects.stop();
    return mirror;
  }

  function write<T>(mirror: Mirror, work: (end: AbortSignal) => Promise<T>): Promise<T> {
    const written = mirror.written.then(() => work(endOf(mirror.id).signal));
    mirror.written = written.then(
      () => {},
      () => {},
    );
    return written;
  }

  function endOf(id: string): AbortController {
    const end = ends.get(id) ?? new AbortController();
    ends.set(id, end);
    return end;
  }

  function requireKept(id: string): void {
    if (ends.get(id)?.signal.aborted)
      throw new SvcError("not_found", "The project was deleted, or its repository has been replaced.");
  }
}
