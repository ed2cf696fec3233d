import { and, eq, gt, inArray, lt } from "drizzle-orm";
import { changeRequests, mergeIntents, projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Branches, Git } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { lookAgain } from "../projects/look-again.ts";
import { repositoryOf } from "../projects/repository.ts";
import { type CrRow, changeOf } from "./row.ts";

export type Intent = typeof mergeIntents.$inferSelect;

/** What merges are settled with. */
type Settling = Pick<Deps, "db" | "keys" | "clock" | "databaseTime" | "checkpoint" | "log"> & {
  git: Pick<Git, "listBranches" | "ensureCommits" | "isAncestor" | "keep">;
};

type MergedRow = typeof changeRequests.$inferSelect;

/** An intent whose push never showed is forgotten after a day: no push of git's outlives that. */
const FORGET_AFTER_MS = 24 * 3_600_000;
const START_LISTING_MS = 30_000;

/**
 * Finds out from the repository whether a recorded merge was pushed, and records it as merged if it was.
 * @param failed merge commits whose push is known not to have happened: their intents are dropped.
 * @returns the merged row, whoever recorded it; null when no recorded push has arrived.
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
 * Marks a change request merged as its intent says, and keeps its commits reachable. The intent stays: by it the one
 * request that merged is told from those that came too late.
 * @returns the merged row, whoever recorded it first.
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
        baseCommitSha: intent.baseSha,
        headCommitSha: intent.headSha,
        updatedAt: now,
      })
      .where(and(eq(changeRequests.crId, intent.crId), eq(changeRequests.status, "open")))
      .returning();
    if (row) {
      if (row.baseRef === project.defaultBranch) await lookAgain(deps, tx, project.projectId);
      const base = { type: "branch", id: row.baseRef, action: "changed" } as const;
      await publish(tx, project.projectId, changeOf(row), base);
    }
    return row;
  });
  return merged ?? mergedMeanwhile(deps, intent.crId);
}

/**
 * Marks a change request merged whose commits have reached its base branch without svc: `merged_by` is null. One whose
 * merge may be under way is left to that merge.
 * @returns null when it is not open any more, or being merged
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
    // the row is locked: a merge has recorded its intent before, and is seen here, or finds it merged
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
    if (merged) await publish(tx, project.projectId, changeOf(merged));
    return merged ?? null;
  });
}

/** At start-up: settles whatever an earlier process left unfinished. Failures are logged; a later read tries again. */
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
        deps.log.info({ cr: row.crId }, "settled a merge that was cut off");
    } catch (error) {
      deps.log.warn({ err: error, cr: row.crId }, "a merge that was cut off could not be settled yet");
    }
  }
}

/** Another process, or another request, may have settled the same merge a moment before. */
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

/** The refs only serve later reads of the diff, which can do without: a failure is no reason to leave the merge unrecorded. */
async function keep(
  deps: Settling,
  project: ProjectRow,
  { crId, number }: Pick<CrRow, "crId" | "number">,
  commits: Record<"base" | "head" | "merge", string>,
): Promise<void> {
  const repo = repositoryOf(deps, project);
  try {
    if (await deps.git.ensureCommits(repo, Object.values(commits)))
      await deps.git.keep(repo, number, commits);
  } catch (error) {
    deps.log.warn({ err: error, cr: crId }, "the commits of a merged change request could not be kept");
  }
}
