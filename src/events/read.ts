import { and, asc, eq, gt, inArray, min, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectEventHeads, projectEvents } from "../../db/schema/index.ts";
import type { ProjectEvent } from "../contract/event.ts";

/** An event and its number. */
export interface NumberedEvent {
  seq: number;
  event: ProjectEvent;
}

/** Events that are read and sent at a time: about 100 KB with the longest names. */
const BATCH = 200;

/**
 * The project's events after a number, oldest first, and the number of its last event.
 * @returns null when the project was deleted
 */
export async function readEventsAfter(
  db: Db,
  projectId: string,
  after: number,
): Promise<{ head: number; events: NumberedEvent[] } | null> {
  const rows = await db
    .select({ head: projectEventHeads.seq, row: projectEvents })
    .from(projectEventHeads)
    .leftJoin(
      projectEvents,
      and(eq(projectEvents.projectId, projectEventHeads.projectId), gt(projectEvents.seq, after)),
    )
    .where(eq(projectEventHeads.projectId, projectId))
    .orderBy(asc(projectEvents.seq))
    .limit(BATCH);
  const [first] = rows;
  return first ? { head: first.head, events: rows.flatMap(({ row }) => (row ? toNumbered(row) : [])) } : null;
}

/** The number before the first event of the last `seconds`; null when there was none. */
export async function readSeqBefore(db: Db, projectId: string, seconds: number): Promise<number | null> {
  const since = sql`clock_timestamp() - make_interval(secs => ${seconds}::int)`;
  const [recent] = await db
    .select({ first: min(projectEvents.seq) })
    .from(projectEvents)
    .where(and(eq(projectEvents.projectId, projectId), gt(projectEvents.at, since)));
  return recent?.first == null ? null : recent.first - 1;
}

/** Projects → the numbers of their last events; without projects that were deleted. */
export async function readHeads(db: Db, projectIds: string[]): Promise<Map<string, number>> {
  const rows = await db
    .select()
    .from(projectEventHeads)
    .where(inArray(projectEventHeads.projectId, projectIds));
  return new Map(rows.map(({ projectId, seq }) => [projectId, seq]));
}

function toNumbered({
  seq,
  type,
  subject,
  number,
  action,
  at,
}: typeof projectEvents.$inferSelect): NumberedEvent {
  const event = {
    type,
    id: subject,
    ...(number !== null && { number }),
    action,
    at: at.toISOString(),
  };
  return { seq, event };
}
