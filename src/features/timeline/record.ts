import { inArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { changeRequestEvents, changeRequests } from "../../../db/schema/index.ts";
import type { TimelineData, TimelineEventName } from "../../contract/timeline.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import { type AuditedBy, audit } from "../../identity/auth/audit.ts";
import type { Caller } from "../../identity/auth/caller.ts";

/** Events of one change request that are kept; later ones are not recorded. */
export const EVENTS_MAX = 10_000;

/** Who did it, and for whom. */
export interface By extends AuditedBy {
  actor: Actor | null;
}

/** svc itself, or somebody that svc does not know. */
export const NOBODY: By = { userId: null, actor: null };

export const byOf = (caller: Caller): By => ({
  userId: caller.userId,
  actor: actorOf(caller),
  tokenId: caller.tokenId,
  ...(caller.origin && { origin: caller.origin }),
});

/** Who did something, and when. */
export interface Act {
  by: By;
  at: Date;
}

/** An event of a change request, and what it is about. */
export interface NewEvent extends TimelineData {
  crId: string;
  event: TimelineEventName;
}

/**
 * Records events of change requests, in their order, in the transaction of what they report and before `publish`. Those
 * that somebody made, and all merges, are in the audit log, too.
 * @param tx has locked the rows of the change requests, unless it has the project locked
 */
export async function recordTimeline(tx: Db, { by, at }: Act, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await auditEvents(
    tx,
    by,
    events.filter(({ event }) => by.userId !== null || event === "merged"),
  );
  const given = events.map(({ crId, event, ...data }) => ({ crId, event, data }));
  const actor = by.actor === null ? null : JSON.stringify(by.actor);
  const { crId } = changeRequestEvents;
  await tx.execute(sql`
    insert into ${changeRequestEvents} (cr_id, event, user_id, actor, data, created_at)
    select (given->>'crId')::uuid, (given->>'event')::timeline_event, ${by.userId}::uuid, ${actor}::jsonb,
      (given->'data')::jsonb, ${at.toISOString()}::timestamptz
    from json_array_elements(${JSON.stringify(given)}::json) with ordinality as events(given, place)
    where (select count(*) from (
      select from ${changeRequestEvents} where ${crId} = (given->>'crId')::uuid limit ${EVENTS_MAX}
    ) as recorded) < ${EVENTS_MAX}
    order by place`);
}

async function auditEvents(tx: Db, by: By, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { crId, number, title, projectId, accountId } = changeRequests;
  const rows = await tx
    .select({ crId, number, title, projectId, accountId })
    .from(changeRequests)
    .where(
      inArray(
        crId,
        events.map((event) => event.crId),
      ),
    );
  const found = new Map(rows.map((row) => [row.crId, row]));
  // the text of a review is in the timeline
  for (const { crId: id, event, body: _, ...data } of events) {
    const cr = found.get(id);
    if (!cr) continue;
    const target = `#${cr.number}`;
    const details = { title: cr.title, ...data };
    await audit(tx, by, { action: `cr.${event}`, target, targetId: id, project: cr, details });
  }
}
