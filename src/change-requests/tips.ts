import type { ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Branches } from "../git/git.ts";
import { repositoryOf } from "../projects/repository.ts";
import type { CrRow } from "./row.ts";

/** A person waits for a diff, a preview or a merge longer than for a list. */
const LISTING_MS = 20_000;

/**
 * The two commits that a change request is about: the captured ones of a merged one, else the live tips.
 * @throws branch_missing, repo_unreachable.
 */
export async function resolveTips(
  deps: Deps,
  project: ProjectRow,
  row: CrRow,
): Promise<{ base: string; head: string }> {
  if (row.status === "merged" && row.baseCommitSha && row.headCommitSha) {
    return { base: row.baseCommitSha, head: row.headCommitSha };
  }
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  return { base: tipOf(listing, row.baseRef), head: tipOf(listing, row.headRef) };
}

/** @throws branch_missing */
export function tipOf(listing: Branches, ref: string): string {
  const tip = listing.tips.get(ref);
  if (tip === undefined) {
    throw new SvcError(
      "branch_missing",
      `The repository no longer has the branch "${ref}". Push it again, or close the change request.`,
    );
  }
  return tip;
}
