import { and, eq, lt, notExists, sql } from "drizzle-orm";
import { modelCalls, modelSpend, projectSessions } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { CALL_MS } from "./limits.ts";
import { addToTotals } from "./totals.ts";

/** How long calls are kept, for the usage of the last year; totals are kept longer. */
const KEPT_DAYS = 400;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Records the end of calls that a killed server has left: this server's own, and those that have taken longer than any
 * call may. What the upstream had reported is kept, and the estimated cost. Deletes what is too old.
 */
export async function settleCalls({ db, serverId, clock }: Deps): Promise<void> {
  const now = clock();
  const late = new Date(now.getTime() - 2 * CALL_MS);
  await addToTotals(
    db,
    sql`update ${modelCalls} as c set state = 'incomplete', ended_at = ${now.toISOString()}::timestamptz
      where c.state = 'open' and (c.server_id = ${serverId} or c.started_at < ${late.toISOString()}::timestamptz)
      returning c.*`,
  );
  const old = new Date(now.getTime() - KEPT_DAYS * DAY_MS);
  await db.delete(modelCalls).where(lt(modelCalls.startedAt, old));
  const { scope, period } = modelSpend;
  const session = db
    .select({ id: projectSessions.sessionId })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, scope));
  await db.delete(modelSpend).where(and(eq(period, ""), notExists(session)));
}
