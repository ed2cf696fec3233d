import { and, asc, eq, gt, isNull } from "drizzle-orm";
import { autoMerges, changeRequests, projects } from "../../../../db/schema/index.ts";
import { type ErrorCode, SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { inParallel } from "../../../lib/in-parallel.ts";
import { requireChecks } from "../../checks/summary.ts";
import { storedProtection } from "../../projects/protection.ts";
import { NOBODY } from "../../timeline/record.ts";
import { requireApprovals } from "../approved.ts";
import { storedOwnership } from "../code-owners/ownership.ts";
import { requireOwnerReviews } from "../code-owners/reviews.ts";
import { mergeChangeRequest } from "../merge.ts";
import { giveUpMerge } from "../stop-merging.ts";
import { callerFor, requireStillOn } from "./right.ts";
import { type AutoMergeRow, OFF, PASSING, turnOff } from "./row.ts";

/** How long an approval or a check that allows a merge may go unnoticed. */
const BUSY_MS = 1_000;
/** Rows read at a time. */
const BATCH = 100;
/** Merges at a time: a slow git host must not delay the others. */
const CONCURRENCY = 4;
/** How often a merge is tried that the stored rules do not allow: they may be older than those of the base. */
const RECHECK_MS = 5 * 60_000;
/** The wait after a failure, doubled with each up to `RECHECK_MS`. */
const BACKOFF_MS = 5_000;

/** What a later approval or check may change. */
const WAITS: ReadonlySet<ErrorCode> = new Set([
  ...(["approval_required", "changes_requested", "code_owner_review_required", "checks_required"] as const),
]);
/** Any other refusal of a merge turns auto-merge off. */
const PASSES: ReadonlySet<ErrorCode> = new Set(PASSING);

/**
 * Merges the change requests for which that was asked, as the person who asked, once checks and approvals allow it.
 *
 * 1. A round reads those that are on. The stored rules tell which of them wait, without a call to the repository.
 * 2. The merge is that of a request (`merge.ts`), for the commit that was seen. It finds under the row's lock whether
 *    auto-merge is still on (`right.ts`), so what turns it off comes clearly before or after.
 * 3. A refusal that approvals and checks cannot change turns it off (`turnOff`), with the reason in an event. A failure of
 *    the repository is tried again later.
 *
 * All state is in the database, so a server that was killed leaves nothing but a row that the next round takes up, or a
 * recorded merge, which `settle.ts` finishes. Several servers may try at once: a merge happens once.
 *
 * @returns stops the worker, and waits for the round in progress
 */
export function startAutoMergeWorker(deps: Deps): () => Promise<void> {
  const stopping = new AbortController();
  const stop = runPeriodically(
    deps,
    {
      subject: "auto-merges",
      wakers: ["change_request", "approval", "check", "project"],
      work: [() => mergeAll(deps, stopping.signal)],
    },
    { busyMs: BUSY_MS },
  );
  return async () => {
    stopping.abort();
    await stop();
  };
}

/** @returns false: what is not announced by a notification may wait for the next round */
async function mergeAll(deps: Deps, signal: AbortSignal): Promise<boolean> {
  let after: string | null = null;
  do {
    const found: Wanted[] = await deps.db
      .select({ auto: autoMerges, cr: changeRequests, project: projects })
      .from(autoMerges)
      .innerJoin(changeRequests, eq(changeRequests.crId, autoMerges.crId))
      .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
      .where(
        and(
          isNull(autoMerges.offReason),
          eq(changeRequests.status, "open"),
          after === null ? undefined : gt(autoMerges.crId, after),
        ),
      )
      .orderBy(asc(autoMerges.crId))
      .limit(BATCH);
    await inParallel(found, CONCURRENCY, signal, (wanted) => tryOne(deps, wanted));
    after = found.length === BATCH ? (found.at(-1)?.auto.crId ?? null) : null;
  } while (after !== null && !signal.aborted);
  return false;
}

interface Wanted {
  auto: AutoMergeRow;
  cr: typeof changeRequests.$inferSelect;
  project: ProjectRow;
}

/** One that fails does not keep the others from being merged. */
async function tryOne(deps: Deps, wanted: Wanted): Promise<void> {
  const { auto, cr, project } = wanted;
  try {
    const isDue = auto.dueAt <= deps.clock();
    const mayTry = auto.failures === 0 ? isDue || (await isAllowed(deps, wanted)) : isDue;
    if (!mayTry) return;
    const caller = await callerFor(deps.db, project, auto, deps.clock());
    const body = {
      head_commit_sha: auto.headSha,
      ...(auto.method !== null && { method: auto.method }),
      ...(auto.message !== null && { message: auto.message }),
      delete_branch: auto.deleteBranch,
    };
    const { merge } = await mergeChangeRequest(deps, caller, project, auto.crId, body, async (tx, rule) => {
      await requireStillOn(tx, auto);
      await callerFor(tx, project, auto, deps.clock());
      // a merge queue does not require them to have passed already
      await requireChecks(tx, cr, auto.headSha, rule);
    });
    deps.log.info({ cr: auto.crId }, `${merge ? "merged" : "queued"} a change request by auto-merge`);
  } catch (error) {
    await settleFailure(deps, wanted, error).catch((failure: unknown) =>
      deps.log.warn({ err: failure, cr: cr.crId }, "cannot record a failed auto-merge"),
    );
  }
}

/** By the rules as they are stored, which a merge reads again. */
async function isAllowed({ db }: Deps, { auto, cr, project }: Wanted): Promise<boolean> {
  try {
    const rule = await storedProtection(db, project);
    await requireApprovals(db, cr, auto.headSha, rule);
    if (rule.requireCodeOwnerReview) {
      const read = (await storedOwnership(db, [cr.crId])).get(cr.crId);
      const ownership = read?.headSha === auto.headSha ? read.ownership : null;
      await requireOwnerReviews(db, cr, auto.headSha, rule, ownership);
    }
    await requireChecks(db, cr, auto.headSha, rule);
    return true;
  } catch (error) {
    if (error instanceof SvcError && WAITS.has(error.code)) return false;
    throw error;
  }
}

async function settleFailure(deps: Deps, wanted: Wanted, error: unknown): Promise<void> {
  const { auto } = wanted;
  if (error instanceof SvcError && !WAITS.has(error.code) && !PASSES.has(error.code))
    return await end(deps, wanted, error.code === "merge_conflict" ? OFF.conflict : error.message);
  const isWaiting = error instanceof SvcError && WAITS.has(error.code);
  if (!isWaiting) deps.log.warn({ err: error, cr: auto.crId }, "auto-merge failed, and is tried again");
  // allowed by the stored rules and refused by those of the base, it is no less a failure
  const failures = isWaiting && !(await isAllowed(deps, wanted)) ? 0 : auto.failures + 1;
  const wait =
    failures === 0 ? RECHECK_MS : Math.min(RECHECK_MS, BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
  await deps.db
    .update(autoMerges)
    .set({ failures, dueAt: new Date(deps.clock().getTime() + wait) })
    .where(and(eq(autoMerges.crId, auto.crId), eq(autoMerges.createdAt, auto.createdAt)));
}

/** Turns it off, unless it was merged, turned off or turned on anew meanwhile. */
async function end(deps: Deps, { auto, project }: Wanted, reason: string): Promise<void> {
  const isSame = and(eq(autoMerges.crId, auto.crId), eq(autoMerges.createdAt, auto.createdAt));
  await giveUpMerge(
    deps,
    project,
    auto.crId,
    async (tx) =>
      (await tx.$count(autoMerges, isSame)) > 0 &&
      (await turnOff(tx, { by: NOBODY, at: deps.clock() }, [auto.crId], reason)),
  );
}
