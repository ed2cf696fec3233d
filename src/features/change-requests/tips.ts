import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/**
 * A change request, and the pending listing of its repository's branches. Both start at the same time; a merged change
 * request does not wait for the branches.
 * @throws not_found, validation_failed.
 */
export async function findWithBranches(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<[CrRow, Promise<Branches>]> {
  const listing = deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  listing.catch(() => {});
  return [await findChangeRequest(deps.db, project, name), listing];
}

/**
 * The base and head commits whose diff a change request shows: the current tips of an open one, or their last known
 * commits if a branch is gone; the stored ones of a merged or closed one.
 * @throws branch_missing, repo_unreachable.
 */
export async function resolveTips(
  row: CrRow,
  listing: Promise<Branches>,
): Promise<{ base: string; head: string }> {
  const { baseRef, baseCommitSha, headRef, headCommitSha } = row;
  if (row.status !== "open" && baseCommitSha && headCommitSha) {
    return { base: baseCommitSha, head: headCommitSha };
  }
  const branches = await listing;
  return {
    base: branches.tips.get(baseRef) ?? baseCommitSha ?? tipOf(branches, baseRef),
    head: branches.tips.get(headRef) ?? headCommitSha ?? tipOf(branches, headRef),
  };
}

/**
 * The base and head commits that a merge would use now; the stored ones if it is merged.
 * @throws branch_missing, repo_unreachable.
 */
export async function currentTips(
  row: CrRow,
  listing: Promise<Branches>,
): Promise<{ base: string; head: string }> {
  if (row.status === "merged") return await resolveTips(row, listing);
  const branches = await listing;
  return { base: tipOf(branches, row.baseRef), head: tipOf(branches, row.headRef) };
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
