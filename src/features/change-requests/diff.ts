import type { ChangeRequestDiff } from "../../contract/change-request.ts";
import { DIFF_FROM, DIFF_TO } from "../../contract/diff-commits.ts";
import { DIFF_MAX_FILES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import type { DiffRequest } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { diffJson, emptyTreeLike, patchResponse } from "../projects/diff.ts";
import { repositoryOf } from "../projects/repository.ts";
import { requireCommits } from "./preview.ts";
import { carryOver, findHead } from "./since.ts";
import { findWithBranches, resolveTips } from "./tips.ts";

/**
 * The three-dot diff of a change request (spec 4.1 rules 4 and 5), as the JSON of a `ChangeRequestDiff`. The list of
 * files is complete; the patch ends at a file boundary past 20,000 changed lines or 5 MiB.
 * @throws branch_missing, repo_unreachable, merge_engine_failed, and what `findHead` throws
 */
export async function diffChangeRequest(
  deps: Deps,
  project: ProjectRow,
  name: string,
  options: DiffOptions,
): Promise<string> {
  const { row, tips, mergeBase, repo, request, since } = await prepareDiff(deps, project, name, options);
  return await diffJson<ChangeRequestDiff>(deps, repo, request, ({ files, totals, truncated }) => ({
    cr_id: row.crId,
    base_ref: row.baseRef,
    head_ref: row.headRef,
    base_sha: tips.base,
    head_sha: tips.head,
    merge_base: mergeBase,
    files,
    ...totals,
    truncated,
    ...(since && { since: { number: since.number, commit_sha: since.commitSha } }),
  }));
}

/** The whole patch, with the two commits between which it is. */
export async function streamDiff(
  deps: Deps,
  project: ProjectRow,
  name: string,
  options: DiffOptions,
): Promise<Response> {
  const { repo, request } = await prepareDiff(deps, project, name, options);
  return patchResponse(deps, repo, request, { [DIFF_FROM]: request.from, [DIFF_TO]: request.to });
}

/** What a diff shows. */
interface DiffOptions {
  ignoreWhitespace?: boolean;
  /** Pairs renamed files; otherwise a rename is a deletion and an addition. */
  pairRenames?: boolean;
  /** Only what is new since an earlier head, see `findHead`. */
  since?: { caller: Caller; wanted: string } | undefined;
}

export async function prepareDiff(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { ignoreWhitespace = false, pairRenames = false, since: wanted }: DiffOptions = {},
) {
  const [row, listing] = await findWithBranches(deps, project, name);
  const since = wanted ? await findHead(deps, wanted.caller, row, wanted.wanted) : null;
  const tips = await resolveTips(row, listing);
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [tips.base, tips.head]);
  const { mergeBase } = await deps.git.relate(repo, tips.base, tips.head);
  const request: Omit<DiffRequest, "onPatch"> = {
    from: since ? await carryOver(deps, project, since, mergeBase) : (mergeBase ?? emptyTreeLike(tips.head)),
    to: tips.head,
    attributes: tips.base,
    ignoreWhitespace,
    pairRenames,
    maxFiles: DIFF_MAX_FILES,
  };
  return { row, tips, mergeBase, repo, request, since };
}
