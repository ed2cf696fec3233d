import { and, eq, gt, inArray, lt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests, mergeIntents, projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Branches, Git } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { schedulePoll } from "../projects/schedule-poll.ts";
import { recordTimeline } from "../timeline/record.ts";
import { forgetAutoMerge } from "./auto-merge/row.ts";
import { keepHeads, recordHeads } from "./heads.ts";
import type { Presenting } from "./present.ts";
import { forgetEntry } from "./queue/row.ts";
import { type CrRow, changeOf } from "./row.ts";
import { retargetStack } from "./stack.ts";
import { recordCrEvent } from "./webhook.ts";

export type Intent = typeof mergeIntents.$inferSelect;

/** The dependencies of settling a merge. */
type Settling = Pick<Deps, "db" | "keys" | "clock" | "databaseTime" | "checkpoint" | "log"> &
  Presenting & {
    git: Pick<Git, "listBranches" | "ensureCommits" | "isAncestor" | "keep" | "countAdded">;
  };

type MergedRow = typeof changeRequests.$inferSelect;

/** Intents whose push never arrived are removed after a day; no push takes that long. */
const FORGET_AFTER_MS = 24 * 3_600_000;
const START_LISTING_MS = 30_000;

/**
 * Checks in the repository whether a recorded merge was pushed, and marks the change request as merged if so.
 * @param failed merge commits whose push is known to have failed; removes their intents
 * @returns the merged row, also if another request recorded it; null when no recorded push has arrived
 */
export async function settle(
  deps: Settling,
  project: ProjectRow,
  row: Pick<CrRow, "crId" | "baseRef" | "number">,
  listing: Branches,
  failed: ReadonlySet<string> = new Set(),
): Promise<MergedRow | null> {
  const intents = await deps.db.select().from(mergeIntents).where(eq(mergeIntents.crId, row.crId));
  for (const intent of intents) {
    if (await arrived(deps, project, intent, listing.tips.get(row.baseRef))) {
      return markMerged(deps, project, row.number, intent);
    }
  }
  if (intents.length === 0) return mergedMeanwhile(deps, row.crId);
  const dropped = intents.filter((intent) => failed.has(intent.mergeSha)).map((intent) => intent.mergeSha);
  if (dropped.length > 0) {
    await deps.db
      .delete(mergeIntents)
      .where(and(eq(mergeIntents.crId, row.crId), inArray(mergeIntents.mergeSha, dropped)));
  }
  return null;
}

/**
 * Marks a change request as merged from its intent, and keeps its commits reachable. The intent stays, because the
 * request that removes it is the one that merged.
 * @returns the merged row, also if another request recorded it first
 */
export async function markMerged(
  deps: Settling,
  project: ProjectRow,
  number: number,
  intent: Intent,
): Promise<MergedRow | null> {
  const commits = { base: intent.baseSha, head: intent.headSha, merge: intent.mergeSha };
  await keep(deps, project, { crId: intent.crId, number }, commits);
  await deps.checkpoint("kept");
  const now = deps.clock();
  const merged = await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(changeRequests)
      .set({
        status: "merged",
        mergedAt: now,
        mergedBy: intent.mergedBy,
        mergedActor: intent.mergedActor,
        mergeCommitSha: intent.mergeSha,
        mergeMethod: intent.method,
        baseCommitSha: intent.baseSha,
        headCommitSha: intent.headSha,
        updatedAt: now,
      })
      .where(and(eq(changeRequests.crId, intent.crId), eq(changeRequests.status, "open")))
      .returning();
    if (row) {
      await forgetAutoMerge(tx, row.crId);
      await forgetEntry(tx, row.crId);
      if (row.baseRef === project.defaultBranch) await schedulePoll(deps, tx, project.projectId);
      await recordMerged(tx, row, now);
      await recordCrEvent(deps, tx, project, { type: "cr.merged", at: now }, row);
      const base = { type: "branch", id: row.baseRef, action: "changed" } as const;
      const above = await retargetStack(deps, tx, project, row, intent.mergeSha, now);
      await publish(tx, project.projectId, changeOf(row), base, ...above);
    }
    return row;
  });
  return merged ?? mergedMeanwhile(deps, intent.crId);
}

/**
 * Marks a change request as merged when its commits have reached the base branch without svc: `merged_by` is null. Leaves
 * it to a merge that may be in progress.
 * @returns null when it is no longer open, or is being merged
 */
export async function markReached(
  deps: Settling,
  project: ProjectRow,
  row: Pick<CrRow, "crId" | "number">,
  commits: Record<"base" | "head" | "merge", string>,
): Promise<MergedRow | null> {
  await keep(deps, project, row, commits);
  const now = deps.clock();
  return await deps.db.transaction(async (tx) => {
    const [held] = await tx
      .select({ status: changeRequests.status })
      .from(changeRequests)
      .where(eq(changeRequests.crId, row.crId))
      .for("update");
    if (held?.status !== "open") return null;
    // the row is locked: a merge has either recorded its intent, which is found here, or will find the row merged
    const pushing = and(eq(mergeIntents.crId, row.crId), gt(mergeIntents.expiresAt, now));
    if ((await tx.$count(mergeIntents, pushing)) > 0) return null;
    const [merged] = await tx
      .update(changeRequests)
      .set({
        status: "merged",
        mergedAt: now,
        mergedBy: null,
        mergeCommitSha: commits.merge,
        baseCommitSha: commits.base,
        headCommitSha: commits.head,
        updatedAt: now,
      })
      .where(eq(changeRequests.crId, row.crId))
      .returning();
    if (!merged) return null;
    await forgetAutoMerge(tx, merged.crId);
    await forgetEntry(tx, merged.crId);
    await recordMerged(tx, merged, now);
    await recordCrEvent(deps, tx, project, { type: "cr.merged", at: now }, merged);
    const above = await retargetStack(deps, tx, project, merged, commits.merge, now);
    await publish(tx, project.projectId, changeOf(merged), ...above);
    return merged;
  });
}

/** Records a merge in the timeline of the change request, and of the one that it reverts. */
async function recordMerged(tx: Db, row: MergedRow, at: Date): Promise<void> {
  const { crId, projectId, baseRef: branch, mergedBy: userId, mergedActor: actor, mergeCommitSha } = row;
  const merged = {
    ...({ crId, event: "merged", branch } as const),
    ...(mergeCommitSha !== null && { commit_sha: mergeCommitSha }),
    ...(row.mergeMethod !== null && { method: row.mergeMethod }),
  };
  const reverted =
    row.reverts === null
      ? []
      : await tx
          .select({ crId: changeRequests.crId })
          .from(changeRequests)
          .where(and(eq(changeRequests.projectId, projectId), eq(changeRequests.number, row.reverts)));
  await recordTimeline(tx, { by: { userId, actor }, at }, [
    merged,
    ...reverted.map((original) => ({ ...original, event: "reverted" as const, number: row.number })),
  ]);
}

/** At startup: settles the merges that an earlier process left unfinished. Logs failures; a later read retries. */
export async function settleAll(deps: Settling): Promise<void> {
  const forget = new Date(deps.clock().getTime() - FORGET_AFTER_MS);
  await deps.db.delete(mergeIntents).where(lt(mergeIntents.expiresAt, forget));
  const unfinished = await deps.db
    .selectDistinct({
      crId: changeRequests.crId,
      number: changeRequests.number,
      baseRef: changeRequests.baseRef,
      project: projects,
    })
    .from(mergeIntents)
    .innerJoin(changeRequests, eq(changeRequests.crId, mergeIntents.crId))
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .where(eq(changeRequests.status, "open"));
  for (const { project, ...row } of unfinished) {
    try {
      const listing = await deps.git.listBranches(repositoryOf(deps, project), START_LISTING_MS);
      if (await settle(deps, project, row, listing))
        deps.log.info({ cr: row.crId }, "settled an interrupted merge");
    } catch (error) {
      deps.log.warn({ err: error, cr: row.crId }, "cannot settle an interrupted merge yet");
    }
  }
}

/** The row, if another process or request has settled the same merge. */
async function mergedMeanwhile(deps: Settling, crId: string): Promise<MergedRow | null> {
  const [row] = await deps.db.select().from(changeRequests).where(eq(changeRequests.crId, crId));
  return row?.status === "merged" ? row : null;
}

/** Whether the base branch holds the intended merge commit. */
async function arrived(
  deps: Settling,
  project: ProjectRow,
  intent: Intent,
  tip: string | undefined,
): Promise<boolean> {
  if (tip === undefined || tip === intent.baseSha) return false;
  if (tip === intent.mergeSha) return true;
  const repo = repositoryOf(deps, project);
  if (!(await deps.git.ensureCommits(repo, [tip, intent.mergeSha]))) return false;
  return deps.git.isAncestor(repo, intent.mergeSha, tip);
}

/**
 * Keeps the commits for later reads of the diff, the head as one of those that the change request has had. A failure must
 * not leave the merge unrecorded.
 */
async function keep(
  deps: Settling,
  project: ProjectRow,
  { crId, number }: Pick<CrRow, "crId" | "number">,
  commits: Record<"base" | "head" | "merge", string>,
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const { base, head, merge } = commits;
  try {
    await deps.db.transaction(async (tx) => {
      await tx
        .select({ crId: changeRequests.crId })
        .from(changeRequests)
        .where(eq(changeRequests.crId, crId))
        .for("update");
      await recordHeads(tx, [{ crId, headCommitSha: head, baseCommitSha: base }], deps.clock(), "seen");
    });
    await keepHeads(deps, project, [{ crId }]);
    if (await deps.git.ensureCommits(repo, [base, merge])) await deps.git.keep(repo, number, { base, merge });
  } catch (error) {
    deps.log.warn({ err: error, cr: crId }, "cannot keep the commits of a merged change request");
  }
}
