import { isAlive, type Session, type STOP_REASONS } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { setGoal } from "../runs/goal.ts";
import { sessionRuns } from "./kind.ts";
import { countOpen, countQueued } from "./prompts/open.ts";
import { findSession, getSession, unknownSession } from "./read.ts";
import { lockSession, type SessionRow } from "./row.ts";

/**
 * Requests that a session stops. It counts as running until its sandbox is gone; a session that is not running stays as
 * it is.
 * @throws not_found, validation_failed
 */
export async function stopSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<Session> {
  const { session } = await findSession(deps, project, name);
  if (!(await stop(deps, session, "user", caller))) throw unknownSession(session.sessionId);
  return await getSession(deps, project, session.sessionId);
}

/**
 * @param caller who stops it, for the audit log; none if svc does
 * @returns false when the goal of the session is `deleted`
 */
export async function stop(
  deps: Deps,
  session: SessionRow,
  stopReason: (typeof STOP_REASONS)[number],
  caller?: Caller,
): Promise<boolean> {
  if (!isAlive(session)) return true;
  const { sessionId } = session;
  const isKept = await deps.db.transaction(async (tx) => {
    // a prompt may have been accepted since, or the question answered, with the run locked
    if (stopReason === "idle" || stopReason === "waiting") {
      const locked = await lockSession(tx, sessionId);
      const isNeeded =
        stopReason === "idle"
          ? (await countOpen(tx, sessionId)) > 0
          : locked?.activity !== "waiting" || (await countQueued(tx, sessionId)) > 0;
      if (isNeeded) return true;
    }
    const run = await setGoal(deps, tx, sessionRuns, sessionId, { goal: "stopped", stopReason });
    if (run === null) return false;
    const target = session.name ?? sessionId;
    const entry = { action: "session.stopped", target, targetId: sessionId, project: session } as const;
    if (caller) await audit(tx, caller, entry);
    return true;
  });
  deps.changes.notify(sessionId);
  return isKept;
}
