import { sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequests, hostReads, projects } from "../../../../db/schema/index.ts";

/** Reads the checks of these change requests from their git hosts from now on, in the transaction that has locked the rows. */
export async function watchHost(tx: Db, crs: readonly { crId: string }[], at: Date): Promise<void> {
  if (crs.length === 0) return;
  const ids = JSON.stringify(crs.map(({ crId }) => crId));
  const now = sql`${at.toISOString()}::timestamptz`;
  await tx.execute(sql`
    insert into ${hostReads} (cr_id, since, due_at)
    select ${changeRequests.crId}, ${now}, ${now}
    from ${changeRequests} join ${projects} on ${projects.projectId} = ${changeRequests.projectId}
    where ${projects.repoUrl} is not null
      and ${changeRequests.crId} in (select value::uuid from json_array_elements_text(${ids}::json))
    on conflict (cr_id) do update set since = excluded.since, due_at = excluded.due_at, failures = 0`);
}
