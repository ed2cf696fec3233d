import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectEventHeads, projectEvents } from "../../db/schema/index.ts";

/** Who was away for longer asks for everything anew, which is no more work than so many hints. */
const KEPT_HOURS = 24;
/** Events that a project keeps; a stream that goes on is told at most so many at once. */
const KEPT = 5_000;
/** Rows that one statement takes away, so that none runs into the time limit. */
const AT_ONCE = 10_000;

/** Takes away what nobody needs to go on from. Servers that do so at the same time leave each other's rows alone. */
export async function trimEvents(db: Db, { kept = KEPT, keptHours = KEPT_HOURS } = {}): Promise<void> {
  const [heads, events] = [projectEventHeads, projectEvents];
  for (let removed = AT_ONCE; removed === AT_ONCE; ) {
    const due = sql`select ${events}.project_id, ${events}.seq from ${events}
      join ${heads} using (project_id)
      where ${events}.seq <= ${heads}.seq - ${kept}::int or ${events}.at < now() - make_interval(hours => ${keptHours}::int)
      limit ${AT_ONCE} for update of ${events} skip locked`;
    const gone = await db
      .delete(events)
      .where(sql`(${events.projectId}, ${events.seq}) in (${due})`)
      .returning({ seq: events.seq });
    removed = gone.length;
  }
}
