import { and, eq, exists, inArray, ne, not } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests, mergeIntents } from "../../../db/schema/index.ts";
import { readPattern } from "../../edge/gateway/names.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { storedProtection } from "../projects/protection.ts";
import { recordTimeline } from "../timeline/record.ts";
import { OFF } from "./auto-merge/row.ts";
import { isOpen, other } from "./other-open.ts";
import type { Presenting } from "./present.ts";
import { type CrRow, changeOf } from "./row.ts";
import { stopMerging } from "./stop-merging.ts";
import { recordCrEvent } from "./webhook.ts";

/** Change requests that one merge retargets. */
const RETARGETED_MAX = 200;

/**
 * Retargets the open change requests on top of a merged one to its base, in the transaction of the merge. A protected
 * branch stays the base of others after its own merge. A change request that is being merged keeps its base, and so does one
 * whose branch has another change request into the new base.
 * @param commit of the base after the merge
 * @returns the changes to publish
 */
export async function retargetStack(
  deps: Presenting,
  tx: Db,
  project: ProjectRow,
  merged: Pick<CrRow, "number" | "headRef" | "baseRef" | "mergedBy" | "mergedActor">,
  commit: string,
  now: Date,
): Promise<ProjectChange[]> {
  if (await isProtected(tx, project, merged.headRef)) return [];
  const intents = tx
    .select({ crId: mergeIntents.crId })
    .from(mergeIntents)
    .where(eq(mergeIntents.crId, changeRequests.crId));
  const others = tx
    .select({ crId: other.crId })
    .from(other)
    .where(isOpen(project, { headRef: changeRequests.headRef, baseRef: merged.baseRef }));
  const above = tx
    .select({ crId: changeRequests.crId })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, project.projectId),
        eq(changeRequests.status, "open"),
        eq(changeRequests.baseRef, merged.headRef),
        ne(changeRequests.headRef, merged.baseRef),
        not(exists(intents)),
        not(exists(others)),
      ),
    )
    .orderBy(changeRequests.number)
    .limit(RETARGETED_MAX)
    .for("update");
  const rows = await tx
    .update(changeRequests)
    .set({ baseRef: merged.baseRef, baseCommitSha: commit, updatedAt: now })
    .where(inArray(changeRequests.crId, above))
    .returning();
  const act = { by: { userId: merged.mergedBy, actor: merged.mergedActor }, at: now };
  const { number, headRef: from, baseRef: to } = merged;
  const event = { event: "automatic_base_change_succeeded", from, to, number } as const;
  await recordTimeline(
    tx,
    act,
    rows.map(({ crId }) => ({ crId, ...event })),
  );
  await stopMerging(
    tx,
    act,
    rows.map(({ crId }) => crId),
    OFF.rebased,
  );
  for (const row of rows) await recordCrEvent(deps, tx, project, { type: "cr.updated", at: now }, row);
  return rows.map((row) => changeOf(row));
}

/** Whether a branch is protected, by the rules that are stored: those of the request may be older. */
export async function isProtected(tx: Db, project: ProjectRow, branch: string): Promise<boolean> {
  return (await protectedIn(tx, project))(branch);
}

/** The same for many. */
export async function protectedIn(tx: Db, project: ProjectRow): Promise<(branch: string) => boolean> {
  const { protectedBranches } = await storedProtection(tx, project);
  const patterns = [project.defaultBranch, ...project.formerDefaultBranches, ...protectedBranches].map(
    readPattern,
  );
  return (branch) => patterns.some((pattern) => pattern.fits(branch));
}
