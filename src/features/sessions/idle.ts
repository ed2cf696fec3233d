import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { projectSessions, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { placesOf } from "../../jobs/places.ts";
import { watchForJumps } from "../../lib/clock-jump.ts";
import { fetchHealth } from "../../sandboxes/daemon.ts";
import { noteActivity, writeActivity } from "./activity.ts";
import { countOpen } from "./prompts/open.ts";
import { reachSession, type SessionRow, sessionColumns } from "./row.ts";
import { stop } from "./stop.ts";

/** Sessions checked per round; the next round checks the rest. */
const BATCH = 100;

/** The rounds of `stopIdle`. When the clock is set, what it measures moves with it. */
export function createIdleRounds(deps: Deps): () => Promise<boolean> {
  const jumpOf = watchForJumps(deps.clock(), deps.monotonic);
  return async () => {
    // one reading, since the clock may be set during the round
    const now = deps.clock();
    const jump = jumpOf(now);
    if (jump !== 0) {
      deps.log.warn(
        { jumpS: Math.round(jump / 1000) },
        "the clock was set: the idle timers of sessions are moved",
      );
      await writeActivity(deps);
      await moveTimers(deps, now, jump);
    }
    return await stopIdle(deps, now);
  };
}

/**
 * Moves the times since which sessions are idle, or wait, by a jump of the clock. Those that were noted since the jump are not
 * later than now, and must stay so; after a jump back, those that are later than now were noted before it.
 */
async function moveTimers(deps: Deps, now: Date, jump: number): Promise<void> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const by = sql`make_interval(secs => ${jump / 1000})`;
  const moved = (column: typeof projectSessions.lastActiveAt | typeof projectSessions.activityAt) =>
    jump > 0
      ? sql`least(${column} + ${by}, ${at})`
      : sql`case when ${column} > ${at} then least(${column} + ${by}, ${at}) else ${column} end`;
  await deps.db
    .update(projectSessions)
    .set({
      lastActiveAt: moved(projectSessions.lastActiveAt),
      activityAt: moved(projectSessions.activityAt),
    })
    .where(inArray(projectSessions.sessionId, runningHere(deps)));
}

function runningHere(deps: Deps) {
  return deps.db
    .select({ id: runs.runId })
    .from(runs)
    .where(and(eq(runs.status, "running"), inArray(runs.place, placesOf(deps))));
}

/**
 * Stops the sessions of this server that have been idle for `SVC_IDLE_TIMEOUT`, or wait for a person for too long. A busy agent counts as activity, and so
 * do the requests that the daemon has seen.
 * @returns whether any session runs here
 */
async function stopIdle(deps: Deps, now: Date): Promise<boolean> {
  await writeActivity(deps);
  const limit = new Date(now.getTime() - deps.config.idleTimeoutS * 1000);
  const sessions = await deps.db
    .select(sessionColumns)
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(isHere(deps))
    .orderBy(projectSessions.lastActiveAt)
    .limit(BATCH);
  const unused = sessions.filter(({ lastActiveAt }) => lastActiveAt < limit);
  await Promise.all(unused.map((session) => stopUnlessUsed(deps, session, limit)));
  await stopWaiting(deps, now);
  return sessions.length > 0;
}

/**
 * Stops those whose agent has waited for a person for `SVC_WAITING_MINUTES`: it does nothing meanwhile, but has a slot of
 * its account. What it asked stays open (`kept/`).
 */
async function stopWaiting(deps: Deps, now: Date): Promise<void> {
  const limit = new Date(now.getTime() - deps.config.waitingS * 1000);
  const waiting = await deps.db
    .select(sessionColumns)
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(and(isHere(deps), eq(projectSessions.activity, "waiting"), lt(projectSessions.activityAt, limit)))
    .orderBy(projectSessions.activityAt)
    .limit(BATCH);
  await Promise.all(waiting.map((session) => stop(deps, session, "waiting")));
}

function isHere(deps: Deps) {
  return and(eq(runs.status, "running"), eq(runs.goal, "running"), inArray(runs.place, placesOf(deps)));
}

async function stopUnlessUsed(deps: Deps, session: SessionRow, limit: Date): Promise<void> {
  const { sessionId } = session;
  const reached = await reachSession(deps, sessionId);
  const health = reached?.daemon && (await fetchHealth(reached.daemon));
  if (health && (health.busy || new Date(health.active_at) > limit)) noteActivity(deps, sessionId);
  else if ((await countOpen(deps.db, sessionId)) > 0) noteActivity(deps, sessionId);
  else if (!deps.activity.has(sessionId)) await stop(deps, session, "idle");
}
