import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectEventHeads, projectEvents } from "../../db/schema/index.ts";

/** A reader that was disconnected for longer must reload all data. */
const KEPT_HOURS = 24;
/** The most events stored of a project, and so sent to a stream that resumes. */
const KEPT = 5_000;
/** Rows deleted by one statement, so that none exceeds the statement timeout. */
const BATCH = 10_000;

/** Deletes old events. Servers that do so at the same time skip each other's rows. */
export async function trimEvents(db: Db, { kept = KEPT, keptHours = KEPT_HOURS } = {}): Promise<void> {
  const [heads, events] = [projectEventHeads, projectEvents];
  for (let removed = BATCH; removed === BATCH; ) {
    const due = sql`select ${events}.project_id, ${events}.seq from ${events}
      join ${heads} using (project_id)
      where ${events}.seq <= ${heads}.seq - ${kept}::int or ${events}.at < now() - make_interval(hours => ${keptHours}::int)
      limit ${BATCH} for update of ${events} skip locked`;
    const gone = await db
      .delete(events)
      .where(sql`(${events.projectId}, ${events.seq}) in (${due})`)
      .returning({ seq: events.seq });
    removed = gone.length;
  }
}
