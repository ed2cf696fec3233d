import type { Deps } from "../../../deps.ts";
import type { Repository } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { fetchCommits } from "../../projects/fetch.ts";
import { messageOf, personOf, writeCommits } from "../merge-commits.ts";
import { relate } from "../merge-intent.ts";
import type { CrRow } from "../row.ts";
import type { QueueRow } from "./row.ts";

/** A merged result, which is what lands. */
export interface Result {
  parentSha: string;
  testedSha: string;
  mergeMessage: string;
  fastForward: boolean;
}

/**
 * Writes the merge of a change request into the mirror, on top of a commit. The same request gives the same commits, so that
 * several servers, and one that starts again, build the same.
 * @param wanted its place in the queue: the date of the merge is the time at which it was queued
 * @returns null when the repository no longer has one of the commits
 * @throws merge_conflict, nothing_to_merge, unrelated_histories, not_fast_forward, too_many_commits
 */
export async function buildResult(
  deps: Deps,
  { project, repo }: { project: ProjectRow; repo: Repository },
  row: CrRow,
  wanted: Pick<QueueRow, "headSha" | "method" | "message" | "userId" | "queuedAt"> & { parent: string },
): Promise<Result | null> {
  const { headSha: head, method, parent: base, userId } = wanted;
  if (!(await fetchCommits(deps, repo, [base, head]))) return null;
  const relation = await relate(deps, repo, row, { base, head });
  const merge = { method, base, head, given: wanted.message ?? undefined };
  const person = await personOf(deps, { userId });
  const message = await messageOf(deps, repo, project, row, person, merge);
  const commits = { ...merge, message, person, date: wanted.queuedAt };
  const { mergeSha, fastForward } = await writeCommits(deps, repo, row, relation, commits);
  return { parentSha: base, testedSha: mergeSha, mergeMessage: message, fastForward };
}
