import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions } from "../../../db/schema/index.ts";
import type { Session } from "../../contract/session.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { startAgain as startRunAgain } from "../runs/goal.ts";
import { enforceSessionCap } from "./cap.ts";
import { sessionRuns } from "./kind.ts";
import { findSession, getSession, unknownSession } from "./read.ts";
import { lockSession, type SessionRow } from "./row.ts";

/**
 * Restarts a session in a new sandbox, with a new key and a new project token, on the branch as it was pushed. An old
 * sandbox is stopped first, and its work saved.
 * @param restore whether the saved work is restored
 * @throws concurrent_session_limit, not_found, validation_failed
 */
export async function restartSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  restore: boolean,
): Promise<Session> {
  const { session } = await findSession(deps, project, name);
  const { sessionId } = session;
  const isRestarted = await withSession(deps, sessionId, async (tx, locked) => {
    if (!(await startAgain(deps, tx, locked, restore))) return false;
    const entry = {
      action: "session.restarted",
      target: locked.name ?? sessionId,
      targetId: sessionId,
    } as const;
    await audit(tx, caller, { ...entry, project, details: { restore } });
    return true;
  });
  if (!isRestarted) throw unknownSession(sessionId);
  return await getSession(deps, project, sessionId);
}

/**
 * Starts a stopped session again for a request or a prompt; any other stays as it is. Its saved work is restored unless
 * a user stopped it.
 * @throws concurrent_session_limit
 */
export async function resumeSession(deps: Deps, sessionId: string): Promise<void> {
  await withSession(
    deps,
    sessionId,
    async (tx, session) => session.status === "stopped" && (await startAgain(deps, tx, session)),
  );
}

/** Changes a session that is locked meanwhile. @returns whether it exists and was changed */
async function withSession(
  deps: Deps,
  sessionId: string,
  change: (tx: Db, session: SessionRow) => Promise<boolean>,
): Promise<boolean> {
  const isChanged = await deps.db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    return session !== null && (await change(tx, session));
  });
  deps.changes.notify(sessionId);
  return isChanged;
}

/**
 * Starts a session again, whatever its status is.
 * @param tx has the session's run locked
 * @param restore whether its saved work is restored: by default, unless a user stopped it
 * @returns false when its goal is `deleted`
 * @throws concurrent_session_limit
 */
export async function startAgain(
  deps: Deps,
  tx: Db,
  session: SessionRow,
  restore = session.stopReason !== "user",
): Promise<boolean> {
  if (!isAlive(session)) await enforceSessionCap(deps, tx, session.accountId);
  await tx
    .update(projectSessions)
    .set({ restores: restore, lastActiveAt: deps.clock() })
    .where(eq(projectSessions.sessionId, session.sessionId));
  return (await startRunAgain(deps, tx, sessionRuns, session)) !== null;
}
