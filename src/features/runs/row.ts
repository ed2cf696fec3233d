import { and, eq, inArray } from "drizzle-orm";
import { runs, type sessionSandboxes } from "../../../db/schema/index.ts";
import { LIVE_STATUSES } from "../../contract/session.ts";

export type RunRow = typeof runs.$inferSelect;
export type SandboxRow = typeof sessionSandboxes.$inferSelect;

/** The message of an error that is thrown when the run has another goal or start than the work in progress. */
export const SUPERSEDED = "the run has another goal by now";

type Which = Pick<RunRow, "runId" | "generation">;

/** The condition for runs that have a sandbox, or are about to: `isAlive` in SQL. */
export const isUp = inArray(runs.status, [...LIVE_STATUSES]);

/** The row of a run while this start is current: not stopped, deleted, failed or started again. */
export function thisStart(run: Which) {
  return and(ofGeneration(run), eq(runs.status, "provisioning"));
}

/** The row of a run while it runs in the sandbox of this start. */
export function stillRunning(run: Which) {
  return and(ofGeneration(run), eq(runs.status, "running"));
}

function ofGeneration({ runId, generation }: Which) {
  return and(eq(runs.runId, runId), eq(runs.generation, generation), eq(runs.goal, "running"));
}
