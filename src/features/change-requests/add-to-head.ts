import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Git } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { type RepositoryRow, repositoryOf } from "../projects/repository.ts";
import { headMoved, requireHead } from "./merge-intent.ts";
import { requireCommits } from "./preview.ts";
import { refresh } from "./refresh.ts";
import type { CrRow } from "./row.ts";
import { isProtected } from "./stack.ts";
import { tipOf } from "./tips.ts";

export interface Tips {
  base: string;
  head: string;
}

/**
 * The commits of an open change request whose head branch svc may write to.
 * @param seen the head commit that the caller reviewed
 * @throws not_open, forbidden, head_moved, branch_missing, repo_unreachable
 */
export async function writableTips(
  deps: Deps,
  project: ProjectRow,
  cr: CrRow,
  seen: string | undefined,
): Promise<Tips> {
  const { rows, listing } = await refresh(deps, project, [cr]);
  const [row = cr] = rows;
  if (row.status !== "open")
    throw new SvcError(
      "not_open",
      `Change request #${cr.number} is ${row.status}, so nothing can be added to it.`,
    );
  if (!listing)
    throw new SvcError(
      "repo_unreachable",
      `The repository of ${project.name} does not respond. Try again in a moment.`,
    );
  const head = requireHead(row, listing, seen);
  if (await isProtected(deps.db, project, row.headRef))
    throw new SvcError(
      "forbidden",
      `The branch "${row.headRef}" is protected. Make the change in another branch, and open a change request of it.`,
    );
  const base = tipOf(listing, row.baseRef);
  await requireCommits(deps, repositoryOf(deps, project), [base, head]);
  return { base, head };
}

/**
 * Pushes a commit to the head branch, as a compare-and-swap.
 * @throws head_moved, branch_missing, push_rejected, repo_unreachable
 */
export async function pushHead(
  deps: Pick<Deps, "keys"> & { git: Pick<Git, "push" | "listBranches"> },
  project: RepositoryRow,
  { headRef: branch }: Pick<CrRow, "headRef">,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const outcome = await deps.git.push(repo, { branch, from, to });
  if (outcome.outcome === "moved") return;
  if (outcome.outcome === "rejected")
    throw new SvcError("push_rejected", `The git host refused the push to "${branch}": ${outcome.reason}`);
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  if (listing.tips.get(branch) === to) return;
  if (outcome.outcome === "stale") throw headMoved({ headRef: branch }, from, tipOf(listing, branch));
  throw new SvcError(
    "repo_unreachable",
    `The git host did not confirm the push to "${branch}". Look at the branch before you try again.`,
  );
}
