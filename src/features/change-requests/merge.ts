import type { Db } from "../../../db/client.ts";
import type { changeRequests } from "../../../db/schema/index.ts";
import type {
  MergeChangeRequestBody,
  MergedChangeRequest,
  QueuedChangeRequest,
} from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES } from "../../contract/limits.ts";
import type { MergeMethod } from "../../contract/merge-method.ts";
import type { Deps } from "../../deps.ts";
import type { PushOutcome, Repository } from "../../git/git.ts";
import { storable } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { type Protection, readProtection } from "../projects/protection.ts";
import { repositoryOf } from "../projects/repository.ts";
import { byOf } from "../timeline/record.ts";
import { requireAgentMerge } from "./agent-merge.ts";
import { deleteHeadBranch, requireDeleter } from "./delete-branch.ts";
import { chooseMethod } from "./merge-commits.ts";
import { forgetIntent, notOpen, prepareMerge, removeIntents } from "./merge-intent.ts";
import { present } from "./present.ts";
import { enterQueue } from "./queue/enter.ts";
import { type CrRow, findChangeRequest } from "./row.ts";
import { type Intent, markMerged, settle } from "./settle.ts";

/** Tries before `base_moved` (contract: Change requests). */
const TRIES = 5;
/** The largest backoff between tries, before jitter of plus or minus half. */
const BACKOFF_MS = 400;

/**
 * Merges an open change request (spec 4.1 rule 7), with one of the methods that the project allows. `merge` fast-forwards
 * when the head is strictly ahead, else it writes a three-way merge commit. The push is a compare-and-swap on the base
 * branch. The intent is recorded first, so that the outcome is never lost: see `settle`. The head branch is deleted only if
 * the body says so. If the project has a merge queue, the change request is put into it, and `queue/worker.ts` merges it.
 * @throws forbidden, not_open, merge_conflict, unrelated_histories, nothing_to_merge, branch_missing, base_moved,
 *   push_rejected, repo_unreachable, merge_engine_failed, agent_merge_forbidden, approval_required, changes_requested,
 *   code_owner_review_required, checks_required, draft, head_moved, merge_method_not_allowed, not_fast_forward, too_many_commits, validation_failed, merge_queue_full.
 */
export async function mergeChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: MergeChangeRequestBody,
  allow: Allow = async () => {},
): Promise<MergedChangeRequest | QueuedChangeRequest> {
  try {
    if (body.delete_branch) requireDeleter(caller);
    const merged = await merge(deps, caller, project, name, body, allow);
    if (!merged.merge) return merged;
    deps.metrics.merges.inc({ outcome: "merged" });
    if (!body.delete_branch) return merged;
    return {
      ...merged,
      head_branch: await deleteHeadBranch(deps, project, {
        ...merged,
        merged: { crId: merged.cr_id, by: byOf(caller) },
      }),
    };
  } catch (error) {
    deps.metrics.merges.inc({ outcome: error instanceof SvcError ? error.code : "internal" });
    throw error;
  }
}

/** Throws if the merge must not be recorded, or queued. `tx` has locked the row of the change request. */
export type Allow = (tx: Db, rule: Protection) => Promise<void>;

async function merge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: MergeChangeRequestBody,
  allow: Allow,
): Promise<MergedChangeRequest | QueuedChangeRequest> {
  const message =
    body.message === undefined ? undefined : storable("message", body.message, DESCRIPTION_MAX_BYTES);
  const row = await findChangeRequest(deps.db, project, name);
  requireOpen(row);
  const branch = `${project.mirrorId} ${row.baseRef}`;
  const wanted = {
    method: body.method,
    message,
    seen: body.head_commit_sha,
    deleteBranch: body.delete_branch ?? false,
    allow,
  };
  return deps.mutex.run(branch, () => tryToMerge(deps, caller, project, row.crId, wanted));
}

async function tryToMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  crId: string,
  wanted: {
    method: MergeMethod | undefined;
    message: string | undefined;
    seen: string | undefined;
    deleteBranch: boolean;
    allow: Allow;
  },
): Promise<MergedChangeRequest | QueuedChangeRequest> {
  const repo = repositoryOf(deps, project);
  const failed = new Set<string>();
  for (let attempt = 0; attempt < TRIES; attempt++) {
    await Bun.sleep(backoffBefore(attempt));
    const row = await findChangeRequest(deps.db, project, crId);
    requireOpen(row);
    const listing = await deps.git.listBranches(repo, LISTING_MS);
    if (row.hasIntents && (await settle(deps, project, row, listing, failed))) throw notOpen(row, "merged");
    // read from this listing: if the base has moved, its rules may have changed
    const unchanged = await requireAgentMerge(deps, caller, project, listing);
    const rule = await readProtection(deps, project, listing);
    const method = chooseMethod(rule, wanted.method, wanted.message);
    const prepared = { project, repo, listing, rule, unchanged, ...wanted, method };
    if (rule.mergeQueue) {
      const queued = await enterQueue(deps, caller, row, prepared);
      if (queued === "moved") continue;
      return queued;
    }
    const intent = await prepareMerge(deps, caller, row, prepared).catch(async (error: unknown) => {
      await forgetAll(deps, crId, failed);
      throw error;
    });
    if (intent === "moved") continue;
    const merged = await pushMerge(deps, project, repo, row, intent);
    if (merged !== "stale") return merged;
    failed.add(intent.mergeSha);
  }
  await forgetAll(deps, crId, failed);
  throw new SvcError(
    "base_moved",
    `Cannot merge: the base branch moved during each of ${TRIES} tries. Check the change request with svc cr show, and merge it again.`,
    {},
    { "Retry-After": "1" },
  );
}

/** Milliseconds to wait before a try: none before the first, then increasing. */
export function backoffBefore(attempt: number): number {
  return BACKOFF_MS * (attempt / TRIES) * (0.5 + Math.random());
}

/** Removes the intents of tries whose push is known to have failed. */
async function forgetAll(deps: Deps, crId: string, failed: ReadonlySet<string>): Promise<void> {
  for (const mergeSha of failed) await forgetIntent(deps.db, { crId, mergeSha });
}

/**
 * Pushes a merge whose intent is recorded, and records its outcome.
 * @returns "stale" when the base has moved: the caller removes the intent
 * @throws push_rejected, repo_unreachable, not_found; not_open if another request has recorded the same merge
 */
export async function pushMerge(
  deps: Deps,
  project: ProjectRow,
  repo: Repository,
  row: CrRow,
  intent: Intent,
): Promise<MergedChangeRequest | "stale"> {
  const outcome = await push(deps, repo, row, intent);
  if (outcome.outcome === "stale") return "stale";
  if (outcome.outcome === "rejected") {
    await forgetIntent(deps.db, intent);
    throw new SvcError(
      "push_rejected",
      `Cannot merge #${row.number}: the git host rejected the push to "${row.baseRef}": ${outcome.reason}`,
    );
  }
  if (outcome.outcome === "unknown") return recover(deps, project, repo, row, intent);
  await deps.checkpoint("pushed");
  return finish(deps, project, row, intent);
}

/** An error before git sent anything removes the intent. */
async function push(deps: Deps, repo: Repository, row: CrRow, intent: Intent): Promise<PushOutcome> {
  try {
    return await deps.git.push(repo, { branch: row.baseRef, from: intent.baseSha, to: intent.mergeSha });
  } catch (error) {
    await forgetIntent(deps.db, intent);
    throw error;
  }
}

/** Checks the repository after a push without a response. If the outcome stays unknown, the intent stays recorded. */
async function recover(
  deps: Deps,
  project: ProjectRow,
  repo: Repository,
  row: CrRow,
  intent: Intent,
): Promise<MergedChangeRequest> {
  const listing = await deps.git.listBranches(repo, LISTING_MS).catch(() => null);
  const settled = listing && (await settle(deps, project, row, listing));
  if (settled?.mergeCommitSha === intent.mergeSha) return finish(deps, project, row, intent);
  throw new SvcError(
    "repo_unreachable",
    `The git host did not confirm the merge. Check the change request in a moment with svc cr show ${row.number}: svc reads the outcome from the repository.`,
  );
}

/** If several requests pushed the same commit, the one that removes the intents has merged it. */
async function finish(
  deps: Deps,
  project: ProjectRow,
  row: CrRow,
  intent: Intent,
): Promise<MergedChangeRequest> {
  const merged = await markMerged(deps, project, row.number, intent);
  if (!merged)
    throw new SvcError("not_found", `Change request #${row.number} was deleted while it was being merged.`);
  const taken = await removeIntents(deps.db, row.crId);
  await deps.checkpoint("merge-recorded");
  if (!taken) throw notOpen(row, "merged");
  return await answer(deps, project, merged, intent);
}

async function answer(
  deps: Deps,
  project: ProjectRow,
  row: typeof changeRequests.$inferSelect,
  intent: Intent,
): Promise<MergedChangeRequest> {
  return {
    ...(await present(deps, project, row, null)),
    merge: {
      merge_commit_sha: intent.mergeSha,
      fast_forward: intent.fastForward,
      base_sha_before: intent.baseSha,
      base_sha_after: intent.mergeSha,
    },
  };
}

function requireOpen(row: CrRow): void {
  if (row.status !== "open") throw notOpen(row, row.status);
}
