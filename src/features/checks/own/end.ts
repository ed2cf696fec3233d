import { eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { runs } from "../../../../db/schema/index.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { setGoal } from "../../runs/goal.ts";
import { checkRuns } from "./kind.ts";
import type { CheckRow } from "./rows.ts";

/** Requests that the sandbox of a check stops, if it runs. Its log is kept. */
export async function stopRun(deps: Deps, tx: Db, { runId }: Pick<CheckRow, "runId">): Promise<void> {
  if (runId === null) return;
  const [run] = await tx.select().from(runs).where(eq(runs.runId, runId));
  if (run && isAlive(run)) await setGoal(deps, tx, checkRuns, runId, { goal: "stopped", stopReason: "user" });
}

/** Deletes the run of a check, and its log. */
export async function deleteRun(deps: Deps, tx: Db, { runId }: Pick<CheckRow, "runId">): Promise<void> {
  if (runId !== null) await setGoal(deps, tx, checkRuns, runId, { goal: "deleted" });
}
