import { and, asc, eq, gt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequestEvents } from "../../../db/schema/index.ts";
import type { TimelineEvent } from "../../contract/timeline.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";

/** The id of an event inside a cursor. */
const CURSOR = /^[1-9]\d{0,15}$/;

/** The events of a change request, the oldest first. @throws validation_failed for another list's cursor */
export async function listTimeline(
  db: Db,
  { crId }: { crId: string },
  { limit, cursor }: Page,
): Promise<{ events: TimelineEvent[]; next_cursor?: string }> {
  const after = Number(readCursor(cursor, CURSOR) ?? 0);
  const found = await db
    .select()
    .from(changeRequestEvents)
    .where(and(eq(changeRequestEvents.crId, crId), gt(changeRequestEvents.eventId, after)))
    .orderBy(asc(changeRequestEvents.eventId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ eventId }) => String(eventId));
  const people = rows.flatMap(({ userId, data }) => [userId, data.user_id ?? null]);
  const names = await namesOf(db, people);
  return { events: rows.map((row) => toWire(row, names)), ...next };
}

function toWire(
  { eventId, event, userId, actor, data, createdAt }: typeof changeRequestEvents.$inferSelect,
  names: ReadonlyMap<string, string>,
): TimelineEvent {
  const { user_id, ...about } = data;
  return {
    id: eventId,
    event,
    actor: userId === null ? null : authorOf(names, userId, actor),
    created_at: createdAt.toISOString(),
    ...(user_id !== undefined && { user: { user_id, name: names.get(user_id) ?? "" } }),
    ...about,
  };
}
