import { and, eq } from "drizzle-orm";
import { mergeVerdicts } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { MergePreview } from "../contract/change-request.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Comparison, Repository } from "../git/git.ts";
import { repositoryOf } from "../projects/repository.ts";
import { fetchCommits, findWithBranches, resolveTips } from "./tips.ts";

/**
 * What a merge would do now (spec 2.7). For a merged change request: the verdict on the commits that were captured.
 * @throws branch_missing, repo_unreachable, merge_engine_failed.
 */
export async function previewMerge(deps: Deps, project: ProjectRow, name: string): Promise<MergePreview> {
  const [row, listing] = await findWithBranches(deps, project, name);
  const tips = await resolveTips(row, listing);
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
  store(deps, { projectId: project.projectId, baseSha: tips.base, headSha: tips.head, ...verdict });
  return verdict;
}

/** Written beside the request: without it the next one only takes longer. */
function store(deps: Deps, verdict: Omit<typeof mergeVerdicts.$inferInsert, "gitVersion">): void {
  deps.db
    .insert(mergeVerdicts)
    .values({ ...verdict, gitVersion: deps.git.version })
    .onConflictDoNothing()
    .then(
      () => {},
      (error: unknown) => deps.log.warn({ err: error }, "a verdict could not be stored"),
    );
}

/** @throws branch_missing when the repository no longer has one of the commits; unavailable while it is fetched. */
export async function requireCommits(deps: Deps, repo: Repository, commits: string[]): Promise<void> {
  if (await fetchCommits(deps, repo, commits)) return;
  throw new SvcError(
    "branch_missing",
    "The repository no longer has the commits of this change request: a branch was deleted or rewritten. Try again, or push the branch again.",
  );
}
