import type { Engine } from "../run/engine.ts";
import { copyRepositories, type RepositoryCopy } from "./copy.ts";
import { packOf } from "./pack.ts";
import { type RestoredRepository, restoreRepository } from "./restore.ts";

/** What backups need of the repositories. */
export interface GitBackups {
  /** Holds back every change of refs by svc while the work runs. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Copies every repository as it is now into a folder on the same disk, by hard links. Call it within `hold`. */
  copy(folder: string): Promise<RepositoryCopy[]>;
  /** All objects of a copy as one pack; nothing if it has no refs. @throws when an object is damaged */
  pack(copy: RepositoryCopy): AsyncIterable<Uint8Array>;
  /** Creates a repository from its refs (`RepositoryCopy.refs`) and pack. @throws when it is damaged */
  restore(repository: RestoredRepository, refs: Uint8Array, pack: AsyncIterable<Uint8Array>): Promise<void>;
}

export function createBackups(engine: Engine): GitBackups {
  return {
    hold: (work) => engine.refs.hold(work),
    copy: (folder) => copyRepositories(engine, folder),
    pack: (copy) => packOf(engine, copy),
    restore: (repository, refs, pack) => restoreRepository(engine, repository, refs, pack),
  };
}
