import { isDatabaseAway } from "../../../db/errors.ts";
import { runs } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import { endSandbox } from "./end.ts";
import { recordSandboxEnd } from "./keys.ts";
import type { RunKind } from "./kind.ts";
import { openLog } from "./log.ts";
import { type RunRow, stillRunning, thisStart } from "./row.ts";

/**
 * Records that the start of a run has failed, at which step and why, after ending its sandbox and keeping its output.
 * @throws the error itself when the database is unavailable: the job is retried
 */
export async function fail(deps: Deps, kind: RunKind, run: RunRow, error: unknown): Promise<void> {
  if (isDatabaseAway(error)) throw error;
  const [row] = await deps.db.select().from(runs).where(thisStart(run));
  if (!row) return;
  // what fails before the first step of the sandbox, such as an engine that is away, is no failure of the branch
  const step =
    error instanceof SandboxError && (row.step === null || row.step === "branch")
      ? "sandbox"
      : (row.step ?? "branch");
  if (!isExplained(error))
    deps.log.error({ [kind.name]: run.runId, step, err: error }, `cannot start a ${kind.name}`);
  // the reconciler stops a sandbox that cannot be stopped now
  await endSandbox(deps, kind, run).catch((failure: unknown) => {
    deps.log.warn({ [kind.name]: run.runId, err: failure }, "cannot stop the sandbox of a failed start");
  });
  await recordFailure(deps, kind, run, kind.text.failed(step, reasonOf(error)));
}

/** Records a failure, of a start or of a sandbox that exited on its own. */
export async function recordFailure(deps: Deps, kind: RunKind, run: RunRow, message: string): Promise<void> {
  const log = openLog(deps, run.runId);
  log.write("svc", message);
  await log.flush();
  const now = deps.clock();
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(runs)
      .set({ status: "failed", error: message, blockedOn: null, updatedAt: now })
      .where(run.status === "running" ? stillRunning(run) : thisStart(run))
      .returning();
    if (!row) return;
    await recordSandboxEnd(tx, kind, run.runId, "error", now);
    await kind.publish(deps, tx, row, "changed");
  });
  deps.changes.notify(run.runId);
}

function isExplained(error: unknown): error is SvcError | SandboxError {
  return error instanceof SvcError || error instanceof SandboxError;
}

function reasonOf(error: unknown): string {
  return isExplained(error) ? error.message : "internal error; see the server's log.";
}
