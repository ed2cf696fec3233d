import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { auditEvents } from "../../../db/schema/index.ts";

/** Entries deleted by one statement, so that none exceeds the statement timeout. */
const BATCH = 5_000;

/**
 * Deletes entries that are older than `days`, the oldest first, so that the chain goes on from the first that is left. One
 * that is not sealed stays.
 */
export async function trimAudit(db: Db, days: number, batch = BATCH): Promise<void> {
  for (let removed = batch; removed === batch; ) {
    removed = await db.transaction(async (tx) => {
      await tx.execute(sql`select set_config('svc.audit_retention', 'on', true)`);
      const oldest = sql`
        select position, created_at from ${auditEvents} where position is not null order by position limit ${batch}::int`;
      const old = sql`
        select position, bool_and(created_at < now() - make_interval(days => ${days}::int))
          over (order by position) as is_old from (${oldest}) as oldest`;
      const gone = await tx
        .delete(auditEvents)
        .where(sql`${auditEvents.position} in (select position from (${old}) as old where is_old)`)
        .returning({ auditId: auditEvents.auditId });
      return gone.length;
    });
  }
}
