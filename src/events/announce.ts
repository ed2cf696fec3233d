import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectEventHeads, projectEvents } from "../../db/schema/index.ts";
import type { ProjectEvent } from "../contract/event.ts";

/** What is told of a change. */
export type News = Omit<ProjectEvent, "at">;

/**
 * Tells the project's event streams of changes, in the order given: in the transaction that makes them, so that both are
 * there or neither. It has to be the transaction's last statement. It holds the counter of the project's events until
 * the commit, so that numbers become visible in their order; whoever held it and then waited for a row of somebody who
 * wants the counter would wait for ever. Servers hear of it when it is committed (`EVENTS_CHANNEL`).
 */
export async function announce(tx: Db, projectId: string, ...news: readonly News[]): Promise<void> {
  if (news.length === 0) return;
  const [heads, events] = [projectEventHeads, projectEvents];
  await tx.execute(sql`
    with head as (
      insert into ${heads} (project_id, seq) values (${projectId}, ${news.length}::int)
      on conflict (project_id) do update set seq = ${heads}.seq + excluded.seq
      returning seq
    )
    insert into ${events} (project_id, seq, type, subject, number, action)
    select ${projectId}, head.seq - ${news.length}::int + place,
      (event->>'type')::event_type, event->>'id', (event->>'number')::int, (event->>'action')::event_action
    from head, json_array_elements(${JSON.stringify(news)}::json) with ordinality as told(event, place)
    returning pg_notify(${EVENTS_CHANNEL}, json_build_object('project', project_id, 'type', type, 'id', left(subject, ${ID_MAX}::int))::text)`);
}

/** Tells the servers that a project is gone: its events are gone with it. Last in the transaction that deletes it. */
export async function announceEnd(tx: Db, projectId: string): Promise<void> {
  const notice = JSON.stringify({ project: projectId, type: "project", id: projectId });
  await tx.execute(sql`select pg_notify(${EVENTS_CHANNEL}, ${notice})`);
}

/** Characters of an id in a notification, which has a limit of 8,000 bytes: only branches have longer ones. */
const ID_MAX = 64;

/**
 * Where servers on one database tell each other of events: `{project, type, id}` as JSON, and what there is to know is
 * read from the database.
 */
export const EVENTS_CHANNEL = "svc_events";
