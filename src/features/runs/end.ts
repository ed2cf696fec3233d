import { and, eq } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import { ORPHANED_EXIT_CODE } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import { recordSandboxEnd } from "./keys.ts";
import type { RunKind } from "./kind.ts";
import { openLog } from "./log.ts";
import { keepOutput } from "./output.ts";
import { isUp, type RunRow } from "./row.ts";

/**
 * The grace period of a sandbox: it interrupts the agent (3 s), saves its work (20 s), stops its runtime (5 s) and saves
 * the files that the runtime wrote as it stopped (5 s); then it is killed. Nearly all stop within a second or two.
 */
const GRACE_MS = 35_000;

/** Stops a run whose goal is `stopped`: its sandbox ends, its keys are revoked, and then its status is `stopped`. */
export async function endRun(deps: Deps, kind: RunKind, run: RunRow): Promise<void> {
  const { runId } = run;
  await endSandbox(deps, kind, run);
  await deps.checkpoint("sandbox-ended");
  const now = deps.clock();
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(runs)
      .set({ status: "stopped", step: null, updatedAt: now })
      .where(and(eq(runs.runId, runId), eq(runs.goal, "stopped"), isUp))
      .returning();
    if (!row) return;
    await recordSandboxEnd(tx, kind, runId, "stopped", now);
    await kind.publish(deps, tx, row, "changed");
  });
  const log = openLog(deps, runId);
  log.write("svc", kind.text.stopped);
  await log.flush();
  deps.changes.notify(runId);
  await deps.checkpoint("end-recorded");
}

/** Deletes a run whose goal is `deleted`: its sandbox first, since only the row leads to it. */
export async function removeRun(deps: Deps, kind: RunKind, run: RunRow): Promise<void> {
  const { runId } = run;
  await deps.sandboxes.get(run.provider)?.stop(runId, GRACE_MS);
  await deps.checkpoint("sandbox-ended");
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .delete(runs)
      .where(and(eq(runs.runId, runId), eq(runs.goal, "deleted")))
      .returning();
    if (row) await kind.publish(deps, tx, row, "deleted");
  });
  deps.changes.notify(runId);
  await deps.checkpoint("end-recorded");
}

/** Ends a run's sandbox, if there is one, and keeps the end of its output. */
export async function endSandbox(deps: Deps, kind: RunKind, run: RunRow): Promise<void> {
  const provider = deps.sandboxes.get(run.provider);
  const sandbox = provider && (await provider.find(run.runId));
  if (!sandbox) return;
  if (sandbox.exitCode === ORPHANED_EXIT_CODE) await kind.saveOrphan?.(deps, run);
  await keepOutput(deps, kind, run);
  await provider.stop(run.runId, GRACE_MS);
}
