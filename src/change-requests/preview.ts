import { and, eq } from "drizzle-orm";
import { mergeVerdicts } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { MergePreview } from "../contract/change-request.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Comparison, Repository } from "../git/git.ts";
import { repositoryOf } from "../projects/repository.ts";
import { findChangeRequest } from "./row.ts";
import { fetchCommits, resolveTips } from "./tips.ts";

/**
 * What a merge would do now (spec 2.7). For a merged change request: the verdict on the commits that were captured.
 * @throws branch_missing, repo_unreachable, merge_engine_failed.
 */
export async function previewMerge(deps: Deps, project: ProjectRow, name: string): Promise<MergePreview> {
  const row = await findChangeRequest(deps.db, project, name);
  const tips = await resolveTips(deps, project, row);
  const verdict = await compareTips(deps, project, tips);
  return {
    base_sha: tips.base,
    head_sha: tips.head,
    merge_base: verdict.mergeBase,
    is_up_to_date: verdict.isUpToDate,
    can_merge: verdict.canMerge,
    can_fast_forward: verdict.canFastForward,
    conflicts: verdict.conflicts,
  };
}

/** The verdict on two commits: the stored one, else git's, which is stored. It never changes, so it never expires. */
async function compareTips(
  deps: Deps,
  project: ProjectRow,
  tips: { base: string; head: string },
): Promise<Comparison> {
  const key = and(
    eq(mergeVerdicts.projectId, project.projectId),
    eq(mergeVerdicts.baseSha, tips.base),
    eq(mergeVerdicts.headSha, tips.head),
    eq(mergeVerdicts.gitVersion, deps.git.version),
  );
  const [known] = await deps.db.select().from(mergeVerdicts).where(key);
  if (known) return known;
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [tips.base, tips.head]);
  const verdict = await deps.git.compare(repo, tips.base, tips.head);
  const { projectId } = project;
  await deps.db
    .insert(mergeVerdicts)
    .values({ projectId, baseSha: tips.base, headSha: tips.head, gitVersion: deps.git.version, ...verdict })
    .onConflictDoNothing();
  return verdict;
}

/** @throws branch_missing when the repository no longer has one of the commits; unavailable while it is fetched. */
export async function requireCommits(deps: Deps, repo: Repository, commits: string[]): Promise<void> {
  if (await fetchCommits(deps, repo, commits)) return;
  throw new SvcError(
    "branch_missing",
    "The repository no longer has the commits of this change request: a branch was deleted or rewritten. Try again, or push the branch again.",
  );
}
