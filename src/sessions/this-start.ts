import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { SessionRow } from "./wire.ts";

type Which = Pick<SessionRow, "sessionId" | "generation">;

/** The row of a session while this start of it goes on: not stopped, deleted, failed or started again. */
export function thisStart(session: Which) {
  return and(ofGeneration(session), eq(projectSessions.status, "provisioning"));
}

/** The row of a session while it runs in the sandbox of this start. */
export function stillRunning(session: Which) {
  return and(ofGeneration(session), eq(projectSessions.status, "running"));
}

function ofGeneration({ sessionId, generation }: Which) {
  return and(
    eq(projectSessions.sessionId, sessionId),
    eq(projectSessions.generation, generation),
    eq(projectSessions.goal, "running"),
  );
}
