import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { projectSessions, runs } from "../../../../db/schema/index.ts";
import { endWaitingNotices } from "../notify.ts";

/**
 * Records that a session's sandbox has ended: its agent does nothing. What it was asking stays open, unless a person
 * stopped it: svc did, or it was killed.
 * @returns whether it asked something that stays open
 */
export async function keepRequest(tx: Db, sessionId: string): Promise<boolean> {
  const isIt = eq(projectSessions.sessionId, sessionId);
  const [asked] = await tx
    .select({ request: projectSessions.waitingFor, at: projectSessions.activityAt, reason: runs.stopReason })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(and(isIt, eq(projectSessions.activity, "waiting")));
  const kept = asked?.request && asked.reason !== "user" ? { ...asked.request, kept: true } : null;
  await tx
    .update(projectSessions)
    .set({
      ...{ activity: null, activityAt: null, waitingFor: null, grantedRequest: null },
      // of one that is kept already it stays
      ...(kept && { keptRequest: kept, keptAt: asked?.at ?? null }),
    })
    .where(isIt);
  return kept !== null;
}

/** Settles what was kept: it was answered, or a person has gone on without an answer. */
export async function dropKept(tx: Db, sessionId: string, at: Date): Promise<void> {
  await tx
    .update(projectSessions)
    .set({ keptRequest: null, keptAt: null })
    .where(eq(projectSessions.sessionId, sessionId));
  await endWaitingNotices(tx, sessionId, at);
}
