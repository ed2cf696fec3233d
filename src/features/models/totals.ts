import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";

/** The month of a time, in UTC. */
export function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/**
 * The statement that ends calls and adds them to the totals of their accounts, projects and sessions: a total is locked only
 * while it runs. All servers change totals in the same order, so that concurrent ones wait for each other in line.
 * @param update of calls in progress, which returns its rows
 */
export function addToTotals(db: Db, update: SQL) {
  const used = sql`count(*), sum(input), sum(output), sum(cached), sum(cost)`;
  const month = sql`to_char(started_at at time zone 'UTC', 'YYYY-MM')`;
  const ended = db.$with("ended", { callId: sql<string>`call_id`.as("call_id") }).as(update);
  const added = db.$with("added", {}).as(sql`
    insert into model_spend as s (scope, period, account_id, calls, input, output, cached, cost)
    select * from (
      select account_id::text as scope, ${month} as period, account_id, ${used} from ended group by 1, 2, 3
      union all
      select project_id::text, ${month}, account_id, ${used} from ended where project_id is not null group by 1, 2, 3
      union all
      select session_id, '', account_id, ${used} from ended where session_id is not null group by 1, 2, 3
    ) totals order by scope, period
    on conflict (scope, period) do update set
      calls = s.calls + excluded.calls,
      input = s.input + excluded.input,
      output = s.output + excluded.output,
      cached = s.cached + excluded.cached,
      cost = case when excluded.cost is null then s.cost else coalesce(s.cost, 0) + excluded.cost end`);
  return db.with(ended, added).select({ callId: ended.callId }).from(ended);
}
