import { and, asc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequests, projectManifests } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import { lockProject } from "../../projects/lock.ts";
import { putInQueue, type Tip } from "./requeue.ts";
import { report } from "./rows.ts";

/** Change requests per round; the next round takes the rest. */
const BATCH = 100;

const isUnchecked = and(
  eq(changeRequests.status, "open"),
  isNotNull(changeRequests.headCommitSha),
  sql`${changeRequests.checkedSha} is distinct from ${changeRequests.headCommitSha}`,
);

/**
 * Enqueues the checks of the default branch's manifest for each new head of an open change request. A check of the same
 * name and commit is not repeated, unless it was cancelled.
 * @returns whether there were any new heads
 */
export async function enqueueChecks(deps: Deps): Promise<boolean> {
  const found = await deps.db
    .select({
      crId: changeRequests.crId,
      projectId: changeRequests.projectId,
      entries: projectManifests.checks,
    })
    .from(changeRequests)
    .leftJoin(projectManifests, eq(projectManifests.projectId, changeRequests.projectId))
    .where(isUnchecked)
    .orderBy(asc(changeRequests.updatedAt))
    .limit(BATCH);
  const without = found.filter(({ entries }) => !entries?.length).map(({ crId }) => crId);
  if (without.length > 0)
    await deps.db
      .update(changeRequests)
      .set({ checkedSha: changeRequests.headCommitSha })
      .where(and(inArray(changeRequests.crId, without), isUnchecked));
  for (const cr of found) if (cr.entries?.length) await enqueue(deps, cr);
  return found.length > 0;
}

async function enqueue(deps: Deps, { crId, projectId }: { crId: string; projectId: string }): Promise<void> {
  await deps.db.transaction(async (tx) => {
    // the change request before the project, in the order of those who change it and announce that
    const [cr] = await tx
      .update(changeRequests)
      .set({ checkedSha: changeRequests.headCommitSha })
      .where(and(eq(changeRequests.crId, crId), isUnchecked))
      .returning();
    if (!cr?.headCommitSha) return;
    await lockProject(tx, projectId);
    const tip = { projectId, sha: cr.headCommitSha, headRef: cr.headRef };
    await publish(tx, projectId, ...(await enqueueFor(deps, tx, tip)));
  });
  await deps.checkpoint("checks-enqueued");
}

/**
 * Enqueues the checks of the default branch's manifest for a commit.
 * @param tx has the project locked
 * @returns the changes to publish as the last statement of the transaction
 */
export async function enqueueFor(deps: Deps, tx: Db, tip: Tip): Promise<ProjectChange[]> {
  const [manifest] = await tx
    .select({ entries: projectManifests.checks })
    .from(projectManifests)
    .where(eq(projectManifests.projectId, tip.projectId));
  const changes: ProjectChange[] = [];
  for (const entry of manifest?.entries ?? []) {
    const row = await putInQueue(deps, tx, tip, entry, ({ state }) => state === "cancelled");
    if (row) changes.push(...(await report(deps, tx, row)));
  }
  return changes;
}
