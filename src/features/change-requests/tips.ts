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
 * The base and head commits of a change request: the stored ones if it is merged, else the current tips.
 * @throws branch_missing, repo_unreachable.
 */
export async function resolveTips(
  row: CrRow,
  listing: Promise<Branches>,
): Promise<{ base: string; head: string }> {
  if (row.status === "merged" && row.baseCommitSha && row.headCommitSha) {
    return { base: row.baseCommitSha, head: row.headCommitSha };
  }
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
