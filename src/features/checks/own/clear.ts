import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import { checks } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { lockProject } from "../../projects/lock.ts";
import { deleteRun } from "./end.ts";

/** Checks that have ended, of one project, that are kept with their logs. */
const KEPT = 500;
/** Checks per call. */
const BATCH = 200;

/** Deletes the oldest ended checks of each project beyond those that are kept. Their commit statuses remain. */
export async function clearChecks(deps: Deps, kept = KEPT): Promise<void> {
  const numbered = deps.db
    .select({
      checkId: checks.checkId,
      place:
        sql<number>`row_number() over (partition by ${checks.projectId} order by ${checks.endedAt} desc)`.as(
          "place",
        ),
    })
    .from(checks)
    .where(isNotNull(checks.endedAt))
    .as("numbered");
  const old = await deps.db
    .select({ check: checks })
    .from(checks)
    .innerJoin(numbered, eq(numbered.checkId, checks.checkId))
    .where(sql`${numbered.place} > ${kept}`)
    .orderBy(asc(checks.endedAt))
    .limit(BATCH);
  for (const { check } of old) {
    await deps.db.transaction(async (tx) => {
      await lockProject(tx, check.projectId);
      const isSame = and(eq(checks.checkId, check.checkId), isNotNull(checks.endedAt));
      const [deleted] = await tx.delete(checks).where(isSame).returning();
      if (deleted) await deleteRun(deps, tx, deleted);
    });
  }
}
