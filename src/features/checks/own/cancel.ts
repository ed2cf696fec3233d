import { and, eq, inArray, isNull, ne, notExists, sql } from "drizzle-orm";
import { changeRequests, checks, mergeQueueEntries } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { stopRun } from "./end.ts";
import { changeCheck } from "./rows.ts";

/** Checks per round; the next round takes the rest. */
const BATCH = 100;

/** Cancels the checks of commits that are no longer the head of an open change request, nor tested by a merge queue. */
export async function cancelChecks(deps: Deps): Promise<void> {
  const heads = deps.db
    .select({ one: sql`1` })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, checks.projectId),
        eq(changeRequests.status, "open"),
        eq(changeRequests.headCommitSha, checks.sha),
      ),
    );
  const results = deps.db
    .select({ one: sql`1` })
    .from(mergeQueueEntries)
    .where(
      and(
        eq(mergeQueueEntries.projectId, checks.projectId),
        eq(mergeQueueEntries.testedSha, checks.sha),
        isNull(mergeQueueEntries.outReason),
      ),
    );
  const isUnwanted = and(isNull(checks.endedAt), notExists(heads), notExists(results));
  const unwanted = await deps.db
    .select({ checkId: checks.checkId, projectId: checks.projectId, sha: checks.sha })
    .from(checks)
    .where(isUnwanted)
    .limit(BATCH);
  if (unwanted.length === 0) return;
  // one that is reopened with this head is checked again
  const shas = unwanted.map(({ sha }) => sha);
  await deps.db
    .update(changeRequests)
    .set({ checkedSha: null })
    .where(
      and(
        inArray(
          changeRequests.projectId,
          unwanted.map(({ projectId }) => projectId),
        ),
        ne(changeRequests.status, "open"),
        inArray(changeRequests.checkedSha, shas),
      ),
    );
  for (const { checkId, projectId } of unwanted) {
    await changeCheck(deps, { projectId }, async (tx) => {
      const [row] = await tx
        .update(checks)
        .set({ state: "cancelled", description: CANCELLED, endedAt: deps.clock() })
        .where(and(eq(checks.checkId, checkId), isUnwanted))
        .returning();
      if (row) await stopRun(deps, tx, row);
      return row ?? null;
    });
    await deps.checkpoint("check-cancelled");
  }
}

const CANCELLED =
  "Cancelled: this is no longer the head commit of an open change request, nor tested by a merge queue";
