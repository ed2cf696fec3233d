import { and, eq, sql } from "drizzle-orm";
import { mergeQueueBranches, mergeQueueEntries } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { enqueueFor } from "../../checks/own/enqueue.ts";
import { LISTING_MS } from "../../projects/fetch.ts";
import { lockProject } from "../../projects/lock.ts";
import type { Queues } from "./advance.ts";
import { type Entry, isQueued, queueBranch } from "./row.ts";

/** Branches that one pass deletes. */
const CLEARED_MAX = 100;

/**
 * Makes sure that the branch of an entry has its result, where CI sees it, and that svc's own checks of it are enqueued.
 * @throws push_rejected
 */
export async function offerBranch(
  deps: Deps,
  { project, repo, listing }: Queues,
  { queued, cr }: Entry,
): Promise<void> {
  const { projectId } = project;
  const branch = queueBranch(cr);
  const { testedSha } = queued;
  if (testedSha === null) return;
  const from = listing.tips.get(branch) ?? null;
  if (from !== testedSha) {
    await deps.db.insert(mergeQueueBranches).values({ projectId, branch }).onConflictDoNothing();
    await deps.checkpoint("queue-branch-recorded");
    const pushed = await deps.git.push(repo, { branch, from, to: testedSha });
    if (pushed.outcome === "rejected")
      throw new SvcError(
        "push_rejected",
        `The git host rejected the branch "${branch}", on which the merged result would be tested: ${pushed.reason}`,
      );
    // the next pass pushes it
    if (pushed.outcome !== "moved") return;
    await deps.checkpoint("queue-branch-pushed");
  }
  if (queued.checkedSha === testedSha) return;
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(mergeQueueEntries)
      .set({ checkedSha: testedSha })
      .where(
        and(
          eq(mergeQueueEntries.crId, queued.crId),
          eq(mergeQueueEntries.testedSha, testedSha),
          sql`${mergeQueueEntries.checkedSha} is distinct from ${testedSha}`,
          isQueued,
        ),
      )
      .returning({ crId: mergeQueueEntries.crId });
    if (!row) return;
    await lockProject(tx, projectId);
    const changes = await enqueueFor(deps, tx, { projectId, sha: testedSha, headRef: branch });
    await publish(tx, projectId, ...changes);
  });
  await deps.checkpoint("queue-checks-enqueued");
}

/** Deletes the branches of entries that have landed or left, also those that a server that was killed has left. */
export async function clearBranches(
  deps: Deps,
  { project, repo }: Pick<Queues, "project" | "repo">,
  used: ReadonlySet<string>,
): Promise<void> {
  const { projectId } = project;
  const known = await deps.db
    .select({ branch: mergeQueueBranches.branch })
    .from(mergeQueueBranches)
    .where(eq(mergeQueueBranches.projectId, projectId));
  const unused = known.filter(({ branch }) => !used.has(branch)).slice(0, CLEARED_MAX);
  if (unused.length === 0) return;
  const { tips } = await deps.git.listBranches(repo, LISTING_MS);
  for (const { branch } of unused) {
    const from = tips.get(branch);
    if (from !== undefined) {
      const deleted = await deps.git.push(repo, { branch, from, to: null });
      if (deleted.outcome === "stale" || deleted.outcome === "unknown") continue;
      if (deleted.outcome === "rejected")
        deps.log.warn({ project: projectId, branch, reason: deleted.reason }, "cannot delete a branch");
      await deps.checkpoint("queue-branch-deleted");
    }
    await deps.db
      .delete(mergeQueueBranches)
      .where(and(eq(mergeQueueBranches.projectId, projectId), eq(mergeQueueBranches.branch, branch)));
  }
}
