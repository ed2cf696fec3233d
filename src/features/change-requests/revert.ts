import type { ChangeRequest } from "../../contract/change-request.ts";
import type { RevertChangeRequestBody } from "../../contract/change-request-revert.ts";
import { SvcError } from "../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES, TITLE_MAX } from "../../contract/limits.ts";
import { QUEUE_BRANCHES } from "../../contract/merge-queue.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Repository, RevertRequest } from "../../git/git.ts";
import { areInConflict, checkBranchName } from "../../git/refs.ts";
import { storable } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { slugify } from "../../lib/slug.ts";
import { readCommit } from "../projects/commit.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { readProtection } from "../projects/protection.ts";
import { repositoryOf } from "../projects/repository.ts";
import { deleteHeadBranch } from "./delete-branch.ts";
import { personOf, plain } from "./merge-commits.ts";
import { wholeSecond } from "./merge-intent.ts";
import { openChangeRequest } from "./open.ts";
import { pageUrl } from "./page-url.ts";
import { requireCommits } from "./preview.ts";
import { requireNoOpenRevert } from "./reverts.ts";
import { type CrRow, findChangeRequest } from "./row.ts";
import { isProtected } from "./stack.ts";
import { tipOf } from "./tips.ts";

/** Tries while the repository changes, and names that are tried for the branch. */
const TRIES = 3;
const NAMES_MAX = 100;

/**
 * Opens a change request that undoes what a merged one brought into its base, as one commit by the caller on top of the
 * base's tip. Nothing is left if that fails. After a crash between the push and the insert, the next call finds the branch
 * with the same commit and opens the change request of it; if the base has moved meanwhile, it takes another name.
 * @throws forbidden, not_found, not_merged, already_open, merge_conflict, nothing_to_revert, validation_failed,
 *   invalid_ref, branch_exists, branch_missing, push_rejected, repo_unreachable, unavailable, merge_engine_failed
 */
export async function revertChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: RevertChangeRequestBody,
): Promise<ChangeRequest> {
  requirePerson(caller);
  const title = body.title && storable("title", body.title.trim(), TITLE_MAX * 4);
  const description = body.description && storable("description", body.description, DESCRIPTION_MAX_BYTES);
  const wanted = body.branch === undefined ? null : checkNewBranch(body.branch);
  const row = await findChangeRequest(deps.db, project, name);
  const merged = requireMerged(row);
  return await deps.mutex.run(`revert ${row.crId}`, async () => {
    await requireNoOpenRevert(deps, deps.db, project, row);
    const pushed = await pushRevert(deps, caller, project, merged, wanted);
    try {
      const opening = {
        title: title ?? titleOf(row),
        description: description ?? `Reverts [#${row.number}](${pageUrl(deps, project, row.number)}).`,
        head_ref: pushed.branch,
        base_ref: row.baseRef,
      };
      return await openChangeRequest(deps, caller, project, opening, row);
    } catch (error) {
      const { branch: head_ref, commit: head_commit_sha, isNew } = pushed;
      if (isNew) {
        const { number } = row;
        await deleteHeadBranch(deps, project, { head_ref, head_commit_sha, number, merged: null });
      }
      throw error;
    }
  });
}

/** @throws invalid_ref */
function checkNewBranch(text: string): string {
  const branch = checkBranchName(text);
  if (!`${branch}/`.startsWith(QUEUE_BRANCHES)) return branch;
  throw new SvcError(
    "invalid_ref",
    `Branches that begin with ${QUEUE_BRANCHES} belong to the merge queue. Choose another branch.`,
  );
}

function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "The token of an agent or script cannot create branches of its own, so it cannot revert a change request. Revert the commits in the branch of the session, or ask a person to run svc cr revert.",
  );
}

type MergedRow = CrRow & { mergeCommitSha: string; baseCommitSha: string };

function requireMerged(row: CrRow): MergedRow {
  const { status, mergeCommitSha, baseCommitSha } = row;
  if (status === "merged" && mergeCommitSha !== null && baseCommitSha !== null)
    return { ...row, mergeCommitSha, baseCommitSha };
  throw new SvcError(
    "not_merged",
    `Change request #${row.number} is ${status}, so there is nothing to revert.${status === "open" ? ` To drop it, close it: svc cr close ${row.number}` : ""}`,
  );
}

/** Git's words, within the limit of titles. */
function titleOf({ title }: CrRow): string {
  return `Revert "${title.slice(0, TITLE_MAX - 'Revert ""'.length).toWellFormed()}"`;
}

interface Pushed {
  branch: string;
  commit: string;
  /** This call has created the branch. */
  isNew: boolean;
}

async function pushRevert(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  row: MergedRow,
  wanted: string | null,
): Promise<Pushed> {
  const repo = repositoryOf(deps, project);
  const identity = await personOf(deps, caller);
  const message = `${titleOf({ ...row, title: plain(row.title) })}\n\nThis reverts change request #${row.number} (commit ${row.mergeCommitSha}).\n`;
  const date = wholeSecond(deps.clock());
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const listing = await deps.git.listBranches(repo, LISTING_MS);
    const base = tipOf(listing, row.baseRef);
    await requireCommits(deps, repo, [base, row.mergeCommitSha, row.baseCommitSha]);
    const commits = { base, merged: row.mergeCommitSha, before: row.baseCommitSha };
    const request = { ...commits, message, identity, date };
    const commit = await writeRevert(deps, repo, row, request);
    const place = await findPlace(deps, repo, row, { wanted, listing, request });
    if ("commit" in place) return { ...place, isNew: false };
    const { branch } = place;
    // stores the rules of the base, which decide
    await readProtection(deps, project, listing);
    if (await isProtected(deps.db, project, branch))
      throw new SvcError("forbidden", `The branch "${branch}" is protected. Choose another name for it.`);
    const { outcome, ...said } = await deps.git.push(repo, { branch, from: null, to: commit });
    if (outcome === "stale") continue;
    if (outcome === "rejected")
      throw new SvcError(
        "push_rejected",
        `The git host refused the branch "${branch}": ${"reason" in said ? said.reason : ""}`,
      );
    if (outcome === "unknown" && (await deps.git.listBranches(repo, LISTING_MS)).tips.get(branch) !== commit)
      throw new SvcError(
        "repo_unreachable",
        `The git host did not confirm that it created the branch "${branch}". Try again in a moment.`,
      );
    await deps.checkpoint("pushed");
    return { branch, commit, isNew: true };
  }
  const sentence = "The repository changed at every attempt. Try again in a moment.";
  throw new SvcError("unavailable", sentence, {}, { "Retry-After": "1" });
}

/** @returns the commit @throws merge_conflict, nothing_to_revert */
async function writeRevert(
  deps: Deps,
  repo: Repository,
  row: MergedRow,
  request: RevertRequest,
): Promise<string> {
  const written = await deps.git.writeRevert(repo, request);
  if ("conflicts" in written) {
    const byHand = await commandOf(deps, repo, request);
    throw new SvcError(
      "merge_conflict",
      `Cannot revert #${row.number}: "${row.baseRef}" has changed the same lines since. In a new branch of "${row.baseRef}", run ${byHand}, resolve the conflicts, push it, and open a change request.`,
      { conflicts: written.conflicts },
    );
  }
  if (written.commit !== request.base) return written.commit;
  throw new SvcError(
    "nothing_to_revert",
    `"${row.baseRef}" has none of the changes of #${row.number} any more, so there is nothing to revert.`,
  );
}

/** What a person runs to revert the same. */
async function commandOf(deps: Deps, repo: Repository, { merged, before }: RevertRequest): Promise<string> {
  const commit = await readCommit(deps, repo, merged);
  const [first, ...others] = commit?.parents ?? [];
  if (first !== before) return `git revert --no-commit ${before}..${merged}`;
  return others.length > 0 ? `git revert -m 1 ${merged}` : `git revert ${merged}`;
}

/**
 * Finds a name that no branch has, or a branch that has the same revert already: an earlier call was interrupted.
 * @throws branch_exists
 */
async function findPlace(
  deps: Deps,
  repo: Repository,
  row: MergedRow,
  { wanted, listing, request }: { wanted: string | null; listing: Branches; request: RevertRequest },
): Promise<{ branch: string } | { branch: string; commit: string }> {
  const usual = `revert-${row.number}-${slugify(row.headRef, "branch")}`;
  const names = wanted === null ? namesLike(usual) : [wanted];
  const taken = [...listing.tips.keys()];
  for (const branch of names) {
    const commit = listing.tips.get(branch);
    if (commit !== undefined && (await isSame(deps, repo, request, commit))) return { branch, commit };
    if (commit === undefined && !taken.some((name) => areInConflict(name, branch))) return { branch };
  }
  throw new SvcError(
    "branch_exists",
    `A branch with the name "${wanted ?? usual}" cannot be created, because of another branch. Choose another name with --branch.`,
  );
}

function namesLike(name: string): string[] {
  return Array.from({ length: NAMES_MAX }, (_, index) => (index === 0 ? name : `${name}-${index + 1}`));
}

/** Whether a commit is the requested one but for its date. */
async function isSame(
  deps: Deps,
  repo: Repository,
  request: RevertRequest,
  commit: string,
): Promise<boolean> {
  if (!(await deps.git.ensureCommits(repo, [commit]))) return false;
  const found = await readCommit(deps, repo, commit);
  const date = found?.author.date;
  if (!date || found.parents[0] !== request.base) return false;
  const written = await deps.git.writeRevert(repo, { ...request, date });
  return "commit" in written && written.commit === commit;
}
