import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectSessions } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { Session } from "../contract/session.ts";
import { isAlive } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { goneSince } from "../jobs/gone.ts";
import { placeOf } from "../jobs/places.ts";
import { takePlace } from "./cap.ts";
import { aim } from "./goal.ts";
import { findSession, unknownSession } from "./read.ts";
import { type SessionRow, toWire } from "./wire.ts";

/**
 * Gives a session a new sandbox, with a new key and a new project token, on the branch as it was pushed. The old one, if
 * there is one, is stopped first, and its work saved.
 * @param restore whether the saved work is brought back
 * @throws concurrent_session_limit, not_found, validation_failed
 */
export async function restartSession(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
  restore: boolean,
): Promise<Session> {
  const { session, sandbox } = await findSession(deps, project, sessionId);
  const row = await start(deps, session.sessionId, () => true, restore);
  if (!row) throw unknownSession();
  return await toWire(deps, row, sandbox);
}

/**
 * Starts a session again that was stopped, since somebody asks for it; any other stays as it is. When no person has
 * stopped it, its work is there again.
 * @throws concurrent_session_limit
 */
export async function wakeSession(deps: Deps, session: SessionRow): Promise<void> {
  await start(deps, session.sessionId, ({ status }) => status === "stopped");
}

/** @param isDue decides on the row, which nobody else changes meanwhile */
async function start(
  deps: Deps,
  sessionId: string,
  isDue: (session: SessionRow) => boolean,
  restore?: boolean,
): Promise<SessionRow | null> {
  const row = await deps.db.transaction(async (tx) => {
    const [session] = await tx
      .select()
      .from(projectSessions)
      .where(eq(projectSessions.sessionId, sessionId))
      .for("update");
    if (!session || !isDue(session)) return session ?? null;
    return await startAgain(deps, tx, session, restore);
  });
  deps.changes.notify(sessionId);
  return row;
}

/**
 * Starts a session anew, whatever it is.
 * @param tx holds the session's row
 * @param restore whether its saved work is brought back: unless a person has stopped it, if left out
 * @throws concurrent_session_limit
 */
export async function startAgain(
  deps: Deps,
  tx: Db,
  session: SessionRow,
  restore = session.stopReason !== "user",
): Promise<SessionRow | null> {
  if (!isAlive(session) && session.purpose === "agent") await takePlace(deps, tx, session.accountId);
  return await aim(deps, tx, session.sessionId, {
    place: await nextPlaceOf(deps, tx, session),
    goal: "running",
    restores: restore,
    status: "provisioning",
    generation: session.generation + 1,
    step: null,
    error: null,
    stopReason: null,
    lastActiveAt: deps.clock(),
  });
}

/**
 * Where a session's next sandbox is: without one, or with one that a server that is gone will end, it may run where it is
 * asked for.
 */
export async function nextPlaceOf(deps: Deps, tx: Db, session: SessionRow): Promise<string> {
  const isFree = !isAlive(session) || (await goneSince(deps, tx, session.place)) !== null;
  return isFree ? placeOf(deps, session.provider) : session.place;
}
