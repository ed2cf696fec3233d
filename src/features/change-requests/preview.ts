import { and, eq, sql } from "drizzle-orm";
import { prepared } from "../../../db/prepared.ts";
import { mergeVerdicts } from "../../../db/schema/index.ts";
import type { MergePreview } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Comparison, Repository } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { fetchCommits } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { verdictName } from "./mergeable.ts";
import { currentTips, findWithBranches } from "./tips.ts";

/**
 * What a merge would do now (spec 2.7). For a merged change request, the verdict on its stored commits.
 * @throws branch_missing, repo_unreachable, merge_engine_failed.
 */
export async function previewMerge(deps: Deps, project: ProjectRow, name: string): Promise<MergePreview> {
  const [row, listing] = await findWithBranches(deps, project, name);
  const tips = await currentTips(row, listing);
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

/** Verdicts in the cache, which is cleared when it is full. */
const CACHED_MAX = 2_000;

/** The verdict on two commits: from the cache, the database or git. It never changes, so it never expires. */
export async function compareTips(
  deps: Deps,
  project: ProjectRow,
  { base, head }: { base: string; head: string },
): Promise<Comparison> {
  const key = { projectId: project.projectId, baseSha: base, headSha: head, gitVersion: deps.git.version };
  const name = verdictName(key);
  const cached = deps.verdicts.get(name);
  if (cached) return cached;
  const verdict = (await storedVerdict(deps.db).execute(key))[0] ?? (await compare(deps, project, key));
  if (deps.verdicts.size >= CACHED_MAX) deps.verdicts.clear();
  deps.verdicts.set(name, verdict);
  return verdict;
}

const storedVerdict = prepared((db) =>
  db
    .select()
    .from(mergeVerdicts)
    .where(
      and(
        eq(mergeVerdicts.projectId, sql.placeholder("projectId")),
        eq(mergeVerdicts.baseSha, sql.placeholder("baseSha")),
        eq(mergeVerdicts.headSha, sql.placeholder("headSha")),
        eq(mergeVerdicts.gitVersion, sql.placeholder("gitVersion")),
      ),
    )
    .prepare("merge_verdict"),
);

type VerdictKey = Pick<typeof mergeVerdicts.$inferInsert, "projectId" | "baseSha" | "headSha" | "gitVersion">;

async function compare(deps: Deps, project: ProjectRow, key: VerdictKey): Promise<Comparison> {
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [key.baseSha, key.headSha]);
  const verdict = await deps.git.compare(repo, key.baseSha, key.headSha);
  store(deps, { ...key, ...verdict });
  return verdict;
}

/** Does not delay the request. If it fails, the next request computes the verdict again. */
function store(deps: Deps, verdict: typeof mergeVerdicts.$inferInsert): void {
  deps.db
    .insert(mergeVerdicts)
    .values(verdict)
    .onConflictDoNothing()
    .then(
      () => {},
      (error: unknown) => deps.log.warn({ err: error }, "cannot store a merge verdict"),
    );
}

/** @throws branch_missing when the repository no longer has one of the commits; unavailable during a long fetch. */
export async function requireCommits(deps: Deps, repo: Repository, commits: string[]): Promise<void> {
  if (await fetchCommits(deps, repo, commits)) return;
  throw new SvcError(
    "branch_missing",
    "The repository no longer has the commits of this change request, because a branch was deleted or rewritten. Try again, or push the branch again.",
  );
}
