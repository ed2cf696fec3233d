import { eq } from "drizzle-orm";
import { projectSessions, projects } from "../../db/schema/index.ts";
import { isAlive } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { isWithinReach } from "../jobs/places.ts";
import { withClaim } from "./claim.ts";
import { endSession, removeSession } from "./end.ts";
import { fail } from "./fail.ts";
import { type Start, startSandbox } from "./start.ts";
import { watchGoal } from "./watch-goal.ts";

/** A session that is asked to be something else again and again has its turn later: its job is asked for anew. */
const TURNS = 10;

/**
 * The one job of a session, for its start, stop and deletion alike: it makes the session what it is to be. Cut off
 * anywhere, it is done again. One process works on a session at a time, and sees by itself what changes meanwhile.
 * @returns the job; its signal is aborted when the server stops, and what was begun is then left to the next
 */
export function createConverger(deps: Deps): (sessionId: string, signal: AbortSignal) => Promise<void> {
  /** Sessions at work here → whether they were asked for again meanwhile. */
  const busy = new Map<string, boolean>();
  return async (sessionId, signal) => {
    if (busy.has(sessionId)) {
      busy.set(sessionId, true);
      return;
    }
    try {
      do {
        busy.set(sessionId, false);
        await withClaim(deps, sessionId, (lost) =>
          converge(deps, sessionId, AbortSignal.any([signal, lost])),
        );
      } while (busy.get(sessionId));
    } finally {
      busy.delete(sessionId);
    }
  };
}

async function converge(deps: Deps, sessionId: string, signal: AbortSignal): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    signal.throwIfAborted();
    const [found] = await deps.db
      .select({ session: projectSessions, project: projects })
      .from(projectSessions)
      .innerJoin(projects, eq(projects.projectId, projectSessions.projectId))
      .where(eq(projectSessions.sessionId, sessionId));
    // what a deleted project has left, the next look at the sandboxes ends
    if (!found) return;
    const { session } = found;
    // a job from before it was started on another server
    if (!isWithinReach(deps, session)) return;
    if (session.goal === "deleted") return await removeSession(deps, session);
    if (!isAlive(session)) return;
    if (session.goal === "stopped") await endSession(deps, session);
    else if (session.status === "provisioning") await begin(deps, found, signal);
    else return;
  }
}

async function begin(deps: Deps, start: Start, signal: AbortSignal): Promise<void> {
  const goal = watchGoal(deps, start.session);
  try {
    await startSandbox(deps, start, AbortSignal.any([signal, goal.signal]));
  } catch (error) {
    // it is to be something else by now: the next turn sees what
    if (goal.signal.aborted) return;
    if (signal.aborted) throw error;
    await fail(deps, start.session, error);
  } finally {
    goal.stop();
  }
}
