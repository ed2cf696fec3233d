import { and, eq, inArray } from "drizzle-orm";
import { projectSessions, runs } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { placesOf } from "../../../jobs/places.ts";
import { findFollowed, followConversation } from "./follow.ts";

/** Between two attempts to reach a sandbox: doubled each time. */
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;
/** Sessions found per round. */
const BATCH = 1_000;

/** Stores the conversations of the running sessions that this server can reach. */
interface ConversationWorker {
  /** Starts to follow a session's conversation, in the background. */
  check(sessionId: string): void;
  /** Finds running sessions that are not followed. @returns whether any session runs */
  round(): Promise<boolean>;
  /** Stops the worker. The next server reads what it misses from the runtimes. */
  stop(): Promise<void>;
}

export function createConversationWorker(deps: Deps): ConversationWorker {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Sessions that are followed → the end of that. */
  const followed = new Map<string, Promise<void>>();

  return {
    check,
    async round() {
      const found = await runningSessions(deps);
      for (const sessionId of found) check(sessionId);
      return found.length > 0;
    },
    async stop() {
      stopping.abort();
      await Promise.all(followed.values());
    },
  };

  function check(sessionId: string): void {
    if (signal.aborted || followed.has(sessionId)) return;
    const over = followWhileRunning(sessionId).finally(() => followed.delete(sessionId));
    followed.set(sessionId, over);
  }

  async function followWhileRunning(sessionId: string): Promise<void> {
    let delay = FIRST_DELAY_MS;
    while (!signal.aborted) {
      const startedAt = performance.now();
      try {
        const found = await findFollowed(deps, sessionId);
        if (!found) return;
        await followConversation(deps, found, signal);
      } catch (error) {
        if (!signal.aborted)
          deps.log.debug({ session: sessionId, err: error }, "cannot follow a conversation");
      }
      delay =
        performance.now() - startedAt > MAX_DELAY_MS ? FIRST_DELAY_MS : Math.min(delay * 2, MAX_DELAY_MS);
      await deps.changes.wait([], delay, signal);
    }
  }
}

async function runningSessions(deps: Deps): Promise<string[]> {
  const rows = await deps.db
    .select({ sessionId: projectSessions.sessionId })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(and(eq(runs.status, "running"), inArray(runs.place, placesOf(deps))))
    .limit(BATCH);
  return rows.map(({ sessionId }) => sessionId);
}
