import type { changeRequests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { within } from "../../lib/within.ts";
import { repositoryOf } from "../projects/repository.ts";
import type { CrRow } from "./row.ts";
import { markReached } from "./settle.ts";

/** How long a read waits for the commits of a moved base branch. The next read retries. */
const READ_COMMITS_MS = 1_000;

interface Found {
  merged: (typeof changeRequests.$inferSelect)[];
  /** Ids of those for which it is not yet known whether the base contains their commits. */
  unsure: Set<string>;
}

/**
 * Marks open change requests as merged when their commits have reached the base branch by a push or by the merge of
 * another change request. The base must have moved since it was stored, and must not have contained the commits before;
 * a change request that adds no commits stays open.
 */
export async function settleReached(
  deps: Deps,
  project: ProjectRow,
  rows: readonly CrRow[],
  listing: Branches,
): Promise<Found> {
  const candidates = rows.flatMap((row) => candidateOf(row, listing));
  if (candidates.length === 0) return { merged: [], unsure: new Set() };
  const settling = Promise.all(
    [...Map.groupBy(candidates, ({ base }) => base)].map(([base, group]) =>
      settleGroup(deps, project, base, group),
    ),
  );
  settling.catch(() => {});
  try {
    const found = await within(settling, READ_COMMITS_MS, late);
    return {
      merged: found.flatMap(({ merged }) => merged),
      unsure: new Set(found.flatMap(({ unsure }) => [...unsure])),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    deps.log.debug({ project: project.projectId, code: error.code }, "cannot read a base branch yet");
    return { merged: [], unsure: new Set(candidates.map(({ row }) => row.crId)) };
  }
}

interface Candidate {
  row: CrRow;
  /** The tip of the branch, or its last known tip. */
  head: string;
  base: string;
  since: string;
}

function candidateOf(row: CrRow, { tips }: Branches): Candidate[] {
  const head = tips.get(row.headRef) ?? row.headCommitSha;
  const base = tips.get(row.baseRef);
  const since = row.baseCommitSha;
  if (head === null || base === undefined || since === null || base === since) return [];
  return [{ row, head, base, since }];
}

/** Change requests whose base branches have the same tip. One query finds those whose commits it contains. */
async function settleGroup(
  deps: Deps,
  project: ProjectRow,
  base: string,
  group: readonly Candidate[],
): Promise<Found> {
  const repo = repositoryOf(deps, project);
  // fetches everything that the base contains
  if (!(await deps.git.ensureCommits(repo, [base]))) throw late();
  const heads = group.map(({ head }) => head);
  const reached = new Set(await deps.git.reachedFrom(repo, base, heads));
  const found: Found = { merged: [], unsure: new Set() };
  for (const { row, head, since } of group.filter((candidate) => reached.has(candidate.head))) {
    if (!(await deps.git.hasCommit(repo, since))) continue;
    const arrival = await deps.git.findArrival(repo, { base, head, since });
    if (!arrival) continue;
    const commits = { base: arrival.base, head, merge: arrival.commit };
    const settled = await markReached(deps, project, row, commits);
    if (settled) found.merged.push(settled);
    else found.unsure.add(row.crId);
  }
  return found;
}

function late(): SvcError {
  return new SvcError("unavailable", "svc is still fetching this repository. Try again in a moment.");
}
