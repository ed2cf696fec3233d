import { and, eq, inArray } from "drizzle-orm";
import { projectSessions, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { placesOf } from "../../jobs/places.ts";
import { fetchHealth } from "../../sandboxes/daemon.ts";
import { noteActivity, writeActivity } from "./activity.ts";
import { countOpen } from "./prompts/open.ts";
import { reachSession, type SessionRow, sessionColumns } from "./row.ts";
import { stop } from "./stop.ts";

/** Sessions checked per round; the next round checks the rest. */
const BATCH = 100;

/**
 * Stops the sessions of this server that have been idle for `SVC_IDLE_TIMEOUT`. A busy agent counts as activity, and so
 * do the requests that the daemon has seen.
 * @returns whether any session runs here
 */
export async function stopIdle(deps: Deps): Promise<boolean> {
  await writeActivity(deps);
  const limit = new Date(deps.clock().getTime() - deps.config.idleTimeoutS * 1000);
  const sessions = await deps.db
    .select(sessionColumns)
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(and(eq(runs.status, "running"), eq(runs.goal, "running"), inArray(runs.place, placesOf(deps))))
    .orderBy(projectSessions.lastActiveAt)
    .limit(BATCH);
  const unused = sessions.filter(({ lastActiveAt }) => lastActiveAt < limit);
  await Promise.all(unused.map((session) => stopUnlessUsed(deps, session, limit)));
  return sessions.length > 0;
}

async function stopUnlessUsed(deps: Deps, session: SessionRow, limit: Date): Promise<void> {
  const { sessionId } = session;
  const reached = await reachSession(deps, sessionId);
  const health = reached?.daemon && (await fetchHealth(reached.daemon));
  if (health && (health.busy || new Date(health.active_at) > limit)) noteActivity(deps, sessionId);
  else if ((await countOpen(deps.db, sessionId)) > 0) noteActivity(deps, sessionId);
  else if (!deps.activity.has(sessionId)) await stop(deps, session, "idle");
}
