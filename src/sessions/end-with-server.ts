import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { isUp } from "./alive.ts";
import { endSession } from "./end.ts";

/**
 * Stops the sessions whose sandboxes live with this server alone, as processes of its machine: whoever stops the server
 * in good order finds nothing of it running. For a server that takes no more jobs, and still takes
 * what sandboxes save.
 */
export async function stopWithServer(deps: Deps): Promise<void> {
  const sessions = await deps.db
    .update(projectSessions)
    .set({ goal: "stopped", stopReason: "server", updatedAt: deps.clock() })
    .where(
      and(
        eq(projectSessions.provider, "local"),
        eq(projectSessions.place, deps.serverId),
        eq(projectSessions.goal, "running"),
        isUp,
      ),
    )
    .returning();
  const ended = await Promise.allSettled(sessions.map((session) => endSession(deps, session)));
  for (const result of ended) {
    if (result.status === "rejected")
      deps.log.warn({ err: result.reason }, "a session was not stopped with the server");
  }
}
