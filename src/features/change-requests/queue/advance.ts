import { and, eq, gt, sql } from "drizzle-orm";
import { mergeIntents, mergeQueueEntries } from "../../../../db/schema/index.ts";
import { type ErrorCode, SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { Branches, Repository } from "../../../git/git.ts";
import { shorten } from "../../../http/text.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { hasFailed, reportedOf } from "../../checks/statuses.ts";
import { summaryOf } from "../../checks/summary.ts";
import { type Protection, readProtection } from "../../projects/protection.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { NOBODY } from "../../timeline/record.ts";
import { requireApprovals } from "../approved.ts";
import { OFF, PASSING } from "../auto-merge/row.ts";
import { knownOwnership } from "../code-owners/ownership.ts";
import { requireOwnerReviews } from "../code-owners/reviews.ts";
import { chooseMethod } from "../merge-commits.ts";
import { isDraft, requireHead } from "../merge-intent.ts";
import { refresh } from "../refresh.ts";
import { changeOf } from "../row.ts";
import { giveUpMerge } from "../stop-merging.ts";
import { tipOf } from "../tips.ts";
import { clearBranches, offerBranch } from "./branches.ts";
import { buildResult, type Result } from "./build.ts";
import { readHostChecks } from "./host-checks.ts";
import { land } from "./land.ts";
import { type Entry, entriesOf, isQueued, type QueueRow, queueBranch, takeOut } from "./row.ts";

/** Merged results of one branch that are tested at once, each on top of the one before it. */
const TESTED_MAX = 5;

/** Failures that have nothing to do with the change request. Any other refusal of its merge takes it out of the queue. */
const PASSES: ReadonlySet<ErrorCode> = new Set([
  ...PASSING,
  // one was reported again between a pass and the lock of the row
  "checks_required",
]);

/** What a pass needs of a project. */
export interface Queues {
  project: ProjectRow;
  repo: Repository;
  listing: Branches;
  rule: Protection;
}

/**
 * One pass over the merge queues of a project.
 *
 * @returns "again" when it changed something that the rest depends on: the next pass reads the repository again
 * @throws SvcError when the repository does not respond
 */
export async function advance(deps: Deps, project: ProjectRow): Promise<"again" | "done"> {
  const before = await entriesOf(deps.db, project.projectId);
  // settles interrupted merges, and takes out those whose heads have moved
  const { listing } = await refresh(
    deps,
    project,
    before.map(({ cr }) => cr),
  );
  const repo = repositoryOf(deps, project);
  if (before.length === 0) {
    await clearBranches(deps, { project, repo }, new Set());
    return "done";
  }
  if (!listing) throw new SvcError("repo_unreachable", `The repository of ${project.name} does not respond.`);
  // read after the listing: one that has left since may have moved its base
  const entries = await entriesOf(deps.db, project.projectId);
  if (before.some(({ cr }) => !entries.some((entry) => entry.cr.crId === cr.crId))) return "again";
  const queues = { project, repo, listing, rule: await readProtection(deps, project, listing) };
  const used = new Set<string>();
  for (const [, queue] of Map.groupBy(entries, ({ queued }) => queued.baseRef)) {
    const tested = await advanceQueue(deps, queues, queue);
    if (tested === "again") return "again";
    for (const entry of tested) used.add(queueBranch(entry.cr));
  }
  await clearBranches(deps, { project, repo }, used);
  return "done";
}

/**
 * Builds the results of the first entries, each on top of the last one that has not failed, and lands the first when its
 * checks have passed. An entry that conflicts or fails on top of others waits until these have landed or left, because the
 * fault may be theirs. On top of the base itself the fault is its own, and it is taken out.
 * @returns the entries with a branch
 */
async function advanceQueue(
  deps: Deps,
  queues: Queues,
  queue: readonly Entry[],
): Promise<"again" | readonly Entry[]> {
  const { rule, listing } = queues;
  const isTested = rule.requiredChecks.length > 0;
  const window = queue.slice(0, isTested ? TESTED_MAX : 1);
  const tested: Entry[] = [];
  let parent: string | undefined;
  for (const entry of window) {
    const isFirst = parent === undefined;
    try {
      parent ??= tipOf(listing, entry.cr.baseRef);
      await requireStanding(deps, queues, entry);
      const result = await resultOn(deps, queues, entry, parent);
      if (!result) return "again";
      const state = await stateOf(deps, queues, { ...entry.queued, ...result });
      if (isFirst && state === "passed") {
        await land(deps, queues, entry, result);
        return "again";
      }
      if (isFirst && state !== "passed" && state !== "waiting") {
        await end(deps, queues, entry, state.failed);
        return "again";
      }
      const built = { ...entry, queued: { ...entry.queued, ...result } };
      if (isTested) {
        await offerBranch(deps, queues, built);
        if (state === "waiting") await readHostChecks(deps, queues, built);
        tested.push(built);
      }
      if (state === "passed" || state === "waiting") parent = result.testedSha;
    } catch (error) {
      if (!(error instanceof SvcError) || PASSES.has(error.code)) throw error;
      const isOwn = isFirst || STANDING.has(error.code);
      if (!isOwn) continue;
      await end(deps, queues, entry, error.code === "merge_conflict" ? OFF.conflict : error.message);
      return "again";
    }
  }
  return tested;
}

/** Refusals that do not depend on the entries before it. */
const STANDING: ReadonlySet<ErrorCode> = new Set([
  ...(["draft", "changes_requested", "approval_required", "code_owner_review_required"] as const),
  ...(["merge_method_not_allowed", "head_moved", "branch_missing", "push_rejected"] as const),
]);

/** What a merge requires of the change request itself, as it is recorded: `land` requires it again, under the lock of the row. */
async function requireStanding(deps: Deps, queues: Queues, { queued, cr }: Entry): Promise<void> {
  const { project, rule, listing } = queues;
  if (cr.draft) throw isDraft(cr);
  requireHead(cr, listing, queued.headSha);
  chooseMethod(rule, queued.method, queued.message ?? undefined);
  await requireApprovals(deps.db, cr, queued.headSha, rule);
  if (!rule.requireCodeOwnerReview) return;
  const commits = { base: tipOf(listing, cr.baseRef), head: queued.headSha };
  const ownership = await knownOwnership(deps, project, cr, commits);
  await requireOwnerReviews(deps.db, cr, queued.headSha, rule, ownership);
}

/**
 * The result on top of `parent`: the recorded one, or a new one.
 * @returns null when the entry has changed meanwhile
 */
async function resultOn(
  deps: Deps,
  queues: Queues,
  { queued, cr }: Entry,
  parent: string,
): Promise<Result | null> {
  const { testedSha, parentSha, mergeMessage, fastForward } = queued;
  const isRecorded = testedSha !== null && mergeMessage !== null && parentSha === parent;
  // another server may have built it, in its own mirror
  if (isRecorded && (await deps.git.hasCommit(queues.repo, testedSha)))
    return { testedSha, parentSha, mergeMessage, fastForward };
  const built = await buildResult(deps, queues, cr, { ...queued, parent });
  if (!built)
    throw new SvcError("unavailable", `The repository lacks a commit of change request #${cr.number}.`);
  if (isRecorded && built.testedSha === testedSha) return built;
  const isUnchanged = and(
    eq(mergeQueueEntries.crId, queued.crId),
    eq(mergeQueueEntries.place, queued.place),
    sql`${mergeQueueEntries.testedSha} is not distinct from ${testedSha}`,
    isQueued,
  );
  const isChanged = await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(mergeQueueEntries)
      .set({ ...built, builtAt: deps.clock(), hostDueAt: null })
      .where(isUnchanged)
      .returning({ crId: mergeQueueEntries.crId });
    if (row) await publish(tx, cr.projectId, changeOf(cr));
    return row !== undefined;
  });
  await deps.checkpoint("queue-built");
  return isChanged ? built : null;
}

type State = "passed" | "waiting" | { failed: string };

/** Whether the required checks of a result have passed. */
async function stateOf(
  deps: Deps,
  { project, rule }: Queues,
  { testedSha, builtAt }: Pick<QueueRow, "builtAt"> & Pick<Result, "testedSha">,
): Promise<State> {
  const { required } = summaryOf(await reportedOf(deps.db, project.projectId, [testedSha]), rule);
  const failed = required.find(({ state }) => state !== null && hasFailed(state));
  if (failed)
    return { failed: `The required check "${shorten(failed.context)}" failed on the merged result.` };
  const open = required.find(({ state }) => state !== "success");
  if (!open) return "passed";
  const minutes = rule.mergeTimeoutMinutes;
  const isLate = builtAt !== null && deps.clock().getTime() - builtAt.getTime() > minutes * 60_000;
  return isLate
    ? {
        failed: `The required check "${shorten(open.context)}" did not pass on the merged result within ${minutes} minutes. Does CI run on the branches svc-queue/**?`,
      }
    : "waiting";
}

/**
 * Takes an entry out, unless it was merged or removed meanwhile.
 * @throws unavailable while a push of it may be in progress: another server may have landed it already
 */
async function end(deps: Deps, { project }: Queues, { queued }: Entry, reason: string): Promise<void> {
  const isSame = and(eq(mergeQueueEntries.crId, queued.crId), eq(mergeQueueEntries.place, queued.place));
  const pushing = and(eq(mergeIntents.crId, queued.crId), gt(mergeIntents.expiresAt, deps.clock()));
  await giveUpMerge(deps, project, queued.crId, async (tx, { number }) => {
    if ((await tx.$count(mergeQueueEntries, isSame)) === 0) return false;
    if ((await tx.$count(mergeIntents, pushing)) > 0)
      throw new SvcError("unavailable", `Change request #${number} is being merged.`);
    return await takeOut(tx, { by: NOBODY, at: deps.clock() }, [queued.crId], reason);
  });
}
