import type { Deps } from "../../deps.ts";
import type { LogPage, Repository } from "../../git/git.ts";

/** A commit of the mirror; null when it has none with this id. */
export async function readCommit(
  deps: Pick<Deps, "git">,
  repo: Repository,
  commit: string,
): Promise<LogPage["commits"][number] | null> {
  const { commits } = await deps.git.log(repo, { commit, path: new Uint8Array(), skip: 0, limit: 1 });
  return commits[0] ?? null;
}
