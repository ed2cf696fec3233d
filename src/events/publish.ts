import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectEventHeads, projectEvents } from "../../db/schema/index.ts";
import type { ProjectEvent } from "../contract/event.ts";

/** A change of a project, as it is published. */
export type ProjectChange = Omit<ProjectEvent, "at">;

/**
 * Publishes changes to the project's event streams, in the order given. Call it as the last statement of the transaction
 * that makes the changes: it locks the counter of the project's events until the commit, so that events become visible in
 * the order of their numbers. A transaction that held the counter and then waited for a row lock could deadlock with one
 * that waits for the counter. Servers are notified on commit (`EVENTS_CHANNEL`).
 */
export async function publish(
  tx: Db,
  projectId: string,
  ...changes: readonly ProjectChange[]
): Promise<void> {
  if (changes.length === 0) return;
  const [heads, events] = [projectEventHeads, projectEvents];
  await tx.execute(sql`
    with head as (
      insert into ${heads} (project_id, seq) values (${projectId}, ${changes.length}::int)
      on conflict (project_id) do update set seq = ${heads}.seq + excluded.seq
      returning seq
    )
    insert into ${events} (project_id, seq, type, subject, number, action)
    select ${projectId}, head.seq - ${changes.length}::int + place,
      (event->>'type')::event_type, event->>'id', (event->>'number')::int, (event->>'action')::event_action
    from head, json_array_elements(${JSON.stringify(changes)}::json) with ordinality as change(event, place)
    returning pg_notify(${EVENTS_CHANNEL}, json_build_object('project', project_id, 'type', type, 'id', left(subject, ${ID_MAX}::int))::text)`);
}

/** Notifies the servers that a project, and its events with it, was deleted. The last statement of that transaction. */
export async function publishDeletion(tx: Db, projectId: string): Promise<void> {
  const payload = JSON.stringify({ project: projectId, type: "project", id: projectId });
  await tx.execute(sql`select pg_notify(${EVENTS_CHANNEL}, ${payload})`);
}

/** Characters of an id in a notification, which Postgres limits to 8,000 bytes: only branches have longer ids. */
const ID_MAX = 64;

/** The channel on which servers notify each other of events: `{project, type, id}` as JSON; the rest is in the database. */
export const EVENTS_CHANNEL = "svc_events";
