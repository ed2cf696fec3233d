import { and, asc, eq, lt, ne, sql } from "drizzle-orm";
import { triggerFirings, triggers } from "../../../db/schema/index.ts";
import { STALE_S } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";

/** Ended firings that are kept of a trigger, the newest. */
const KEPT = 200;
/** Ended firings are kept at least this long, to recognize a delivery that is sent again. */
const KEPT_S = 3_600;
/** Triggers checked per round. */
const BATCH = 50;
const REASON = "The account was at its session limit for an hour.";

/** Skips firings that have waited for a session slot for an hour: their task is out of date. */
export async function skipStale(deps: Deps): Promise<void> {
  const now = await deps.databaseTime(deps.db);
  const isStale = and(
    eq(triggerFirings.state, "waiting"),
    lt(triggerFirings.createdAt, new Date(now.getTime() - STALE_S * 1000)),
  );
  const stale = await deps.db
    .selectDistinct({ triggerId: triggerFirings.triggerId })
    .from(triggerFirings)
    .where(isStale)
    .orderBy(asc(triggerFirings.triggerId))
    .limit(BATCH);
  for (const { triggerId } of stale) {
    await deps.db.transaction(async (tx) => {
      const isIt = eq(triggers.triggerId, triggerId);
      const [trigger] = await tx.select().from(triggers).where(isIt).for("no key update");
      if (!trigger) return;
      const skipped = await tx
        .update(triggerFirings)
        .set({ state: "skipped", error: REASON, prompt: null, endedAt: now })
        .where(and(eq(triggerFirings.triggerId, triggerId), isStale))
        .returning({ seq: triggerFirings.seq });
      if (skipped.length === 0) return;
      const { projectId, slug } = trigger;
      deps.log.warn({ project: projectId, trigger: slug, count: skipped.length }, "firings were skipped");
      await tx.update(triggers).set({ lastError: REASON }).where(isIt);
      await publish(tx, projectId, { type: "trigger", id: slug, action: "changed" });
    });
  }
}

/** Deletes ended firings, except the newest of each trigger. */
export async function trimFirings(deps: Deps): Promise<void> {
  const now = await deps.databaseTime(deps.db);
  const isOver = and(
    ne(triggerFirings.state, "waiting"),
    lt(triggerFirings.createdAt, new Date(now.getTime() - KEPT_S * 1000)),
  );
  const newer = sql`(
    select count(*) from (
      select from ${triggerFirings} as newer
      where newer.trigger_id = ${triggerFirings.triggerId} and newer.seq > ${triggerFirings.seq} limit ${KEPT}
    ) as counted)`;
  await deps.db.delete(triggerFirings).where(and(isOver, sql`${newer} >= ${KEPT}`));
}
