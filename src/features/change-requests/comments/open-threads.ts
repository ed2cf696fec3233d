import { count, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { prepared } from "../../../../db/prepared.ts";
import { changeRequestComments } from "../../../../db/schema/index.ts";

/** How many threads of change requests are not resolved, by their ids; without those that have none. */
export async function openThreadsOf(db: Db, crIds: readonly string[]): Promise<Map<string, number>> {
  if (crIds.length === 0) return new Map();
  const rows = await ofMany(db).execute({ crIds: JSON.stringify(crIds) });
  return new Map(rows.map(({ crId, threads }) => [crId, threads]));
}

const { crId, replyTo, resolvedAt } = changeRequestComments;

const ofMany = prepared((db) =>
  db
    .select({ crId, threads: count() })
    .from(changeRequestComments)
    .where(
      sql`${replyTo} is null and ${resolvedAt} is null
        and ${crId} in (select value::uuid from json_array_elements_text(${sql.placeholder("crIds")}::json))`,
    )
    .groupBy(crId)
    .prepare("open_threads_of_change_requests"),
);
