import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { changeRequestEvents } from "../../../db/schema/index.ts";
import type { TimelineData, TimelineEventName } from "../../contract/timeline.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller } from "../../identity/auth/caller.ts";

/** Events of one change request that are kept; later ones are not recorded. */
export const EVENTS_MAX = 10_000;

/** Who did it, and for whom. */
export interface By {
  userId: string | null;
  actor: Actor | null;
}

/** svc itself, or somebody that svc does not know. */
export const NOBODY: By = { userId: null, actor: null };

export const byOf = (caller: Caller): By => ({ userId: caller.userId, actor: actorOf(caller) });

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
 * Records events of change requests, in their order, in the transaction of what they report and before `publish`.
 * @param tx has locked the rows of the change requests, unless it has the project locked
 */
export async function recordTimeline(tx: Db, { by, at }: Act, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
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
