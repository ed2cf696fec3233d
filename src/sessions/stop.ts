import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectSessions } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import { isAlive, type Session, type STOP_REASONS } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { aim } from "./goal.ts";
import { countOpen } from "./prompts/open.ts";
import { findSession, unknownSession } from "./read.ts";
import { type SessionRow, toWire } from "./wire.ts";

/**
 * Asks for a session to be stopped. It counts as running until its sandbox is gone; one that does not run stays as it is.
 * @throws not_found, validation_failed
 */
export async function stopSession(deps: Deps, project: ProjectRow, sessionId: string): Promise<Session> {
  const { session, sandbox } = await findSession(deps, project, sessionId);
  const row = await stop(deps, session, "user");
  if (!row) throw unknownSession();
  return await toWire(deps, row, sandbox);
}

/** @returns the session's row as it is now; null when it is being deleted */
export async function stop(
  deps: Deps,
  session: SessionRow,
  reason: (typeof STOP_REASONS)[number],
): Promise<SessionRow | null> {
  if (!isAlive(session)) return session;
  const row = await deps.db.transaction(async (tx) => {
    // a prompt that was taken in this moment, which holds the row, is use
    if (reason === "idle" && (await isPrompted(tx, session.sessionId))) return session;
    return await aim(deps, tx, session.sessionId, { goal: "stopped", stopReason: reason });
  });
  deps.changes.notify(session.sessionId);
  return row;
}

async function isPrompted(tx: Db, sessionId: string): Promise<boolean> {
  const ofSession = eq(projectSessions.sessionId, sessionId);
  await tx.select({ goal: projectSessions.goal }).from(projectSessions).where(ofSession).for("update");
  return (await countOpen(tx, sessionId)) > 0;
}
