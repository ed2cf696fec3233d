import { and, eq, isNotNull, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectSessions, servers } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { declareGone, forgetServers, goneSince } from "../jobs/gone.ts";
import { isUp } from "./alive.ts";
import { endKeys } from "./keys.ts";
import { openLog } from "./log.ts";
import { tell } from "./tell.ts";
import type { SessionRow } from "./wire.ts";

/** Sessions that are taken over in one round; the rest has its turn in the next. */
const ROUND = 200;

/**
 * Takes the sessions of servers that are gone: nobody else can say what becomes of them. What such a server's machine
 * still holds, that server ends when it is back: it finds sandboxes of no session.
 */
export async function takeOver(deps: Deps): Promise<void> {
  for (const { id, seenAt } of await declareGone(deps))
    deps.log.warn({ server: id, seenAt }, "a server counts as gone: its sessions are taken over");
  const left = await deps.db
    .select({ sessionId: projectSessions.sessionId })
    .from(projectSessions)
    .innerJoin(servers, eq(servers.id, projectSessions.place))
    .where(
      and(
        ne(servers.id, deps.serverId),
        isNotNull(servers.goneAt),
        or(eq(projectSessions.goal, "deleted"), isUp),
        // who has a claim lives, and is about to say so
        or(isNull(projectSessions.workerUntil), lt(projectSessions.workerUntil, sql`now()`)),
      ),
    )
    .limit(ROUND);
  for (const { sessionId } of left) {
    await deps.db.transaction((tx) => settle(deps, tx, sessionId));
    deps.changes.notify(sessionId);
  }
  await forgetServers(deps);
}

async function settle(deps: Deps, tx: Db, sessionId: string): Promise<void> {
  const [session] = await tx
    .select()
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, sessionId))
    .for("update");
  const since = session && (await goneSince(deps, tx, session.place));
  if (session && since) await settleGone(deps, tx, session, since);
}

/**
 * Makes a session what it can be without its server: deleted or stopped, if it is to be that, and failed otherwise. Its
 * keys open nothing from then on, so that a sandbox which runs on changes nothing any more.
 * @param tx holds the session's row, and has asked `goneSince`
 * @returns the row as it is now; null when it was deleted
 */
export async function settleGone(
  deps: Deps,
  tx: Db,
  session: SessionRow,
  since: Date,
): Promise<SessionRow | null> {
  const { sessionId, goal } = session;
  const ofSession = eq(projectSessions.sessionId, sessionId);
  if (goal === "deleted") {
    await tx.delete(projectSessions).where(ofSession);
    await tell(deps, tx, session, "deleted");
    return null;
  }
  const now = deps.clock();
  const silence = `the server that ran it, and so its machine, has not been heard of since ${minuteOf(since)}.`;
  const error = `The session is lost: ${silence} Start it anew on a server that runs: svc sessions restart ${sessionId}`;
  const isStopped = goal === "stopped";
  const end = isStopped ? { status: "stopped" as const, step: null } : { status: "failed" as const, error };
  const [row] = await tx
    .update(projectSessions)
    .set({ ...end, updatedAt: now })
    .where(and(ofSession, isUp))
    .returning();
  if (!row) return session;
  await endKeys(tx, sessionId, { state: isStopped ? "stopped" : "error", updatedAt: now });
  const log = openLog({ ...deps, db: tx }, sessionId);
  log.write("svc", isStopped ? `The session has stopped: ${silence}` : error);
  await log.flush();
  await tell(deps, tx, session, "changed");
  return row;
}

/** A time as a person reads it; the minute is as much as is known. */
function minuteOf(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
