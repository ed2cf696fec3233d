import { and, eq, isNull } from "drizzle-orm";
import { checks, runs } from "../../../../db/schema/index.ts";
import type { CheckState } from "../../../contract/check.ts";
import type { DaemonCheckResult } from "../../../contract/daemon.ts";
import { field } from "../../../contract/json.ts";
import type { Deps } from "../../../deps.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { fetchHealth } from "../../../sandboxes/daemon.ts";
import { startAgain } from "../../runs/goal.ts";
import { reachRun } from "../../runs/reach.ts";
import type { RunRow } from "../../runs/row.ts";
import { shortened } from "../describe.ts";
import { stopRun } from "./end.ts";
import { checkRuns } from "./kind.ts";
import { type CheckRow, changeCheck } from "./rows.ts";

/** Checks per round; the oldest come first, and they are bounded by the limits of accounts. */
const BATCH = 1_000;
/** Beyond its time limit, after which the daemon ends the command itself. */
const GRACE_MS = 2 * 60_000;

/**
 * Brings every check that has a run to the state that follows from it: running, ended with the result that its daemon
 * reports, or failed with its sandbox. A check that its server stopped with itself is started again.
 * @returns whether any has not ended
 */
export async function settleChecks(deps: Deps): Promise<boolean> {
  const open = await deps.db
    .select({ check: checks, run: runs })
    .from(checks)
    .innerJoin(runs, eq(runs.runId, checks.runId))
    .where(isNull(checks.endedAt))
    .orderBy(checks.createdAt)
    .limit(BATCH);
  const settled = await Promise.allSettled(open.map(({ check, run }) => settle(deps, check, run)));
  for (const result of settled)
    if (result.status === "rejected") deps.log.warn({ err: result.reason }, "cannot settle a check");
  return open.length > 0;
}

async function settle(deps: Deps, check: CheckRow, run: RunRow): Promise<void> {
  if (run.status === "failed") return await end(deps, check, "error", run.error ?? "Its sandbox has failed.");
  if (run.status === "stopped") return await repeat(deps, check, run);
  if (run.status !== "running") return;
  if (check.state === "queued") await begin(deps, check);
  if (!isWithinReach(deps, run)) return;
  const { daemon = null } = (await reachRun(deps, run.runId)) ?? {};
  const health = daemon && (await fetchHealth(daemon));
  const result = readResult(health?.check);
  if (result) return await end(deps, check, ...outcomeOf(result, check));
  const limitMs = check.entry.timeoutMinutes * 60_000 + GRACE_MS;
  const ranMs = deps.clock().getTime() - (run.readyAt ?? run.updatedAt).getTime();
  if (ranMs > limitMs) await end(deps, check, "error", "Its sandbox did not report a result in time.");
}

async function begin(deps: Deps, { checkId, projectId, runId }: CheckRow): Promise<void> {
  await changeCheck(deps, { projectId }, async (tx) => {
    const [row] = await tx
      .update(checks)
      .set({ state: "running", startedAt: deps.clock() })
      .where(and(eq(checks.checkId, checkId), eq(checks.state, "queued"), sameRun(runId)))
      .returning();
    return row ?? null;
  });
  await deps.checkpoint("check-running");
}

async function end(
  deps: Deps,
  { checkId, projectId, runId }: CheckRow,
  state: Extract<CheckState, "success" | "failure" | "error">,
  description: string,
): Promise<void> {
  await changeCheck(deps, { projectId }, async (tx) => {
    const [row] = await tx
      .update(checks)
      .set({ state, description: shortened(description), endedAt: deps.clock() })
      .where(and(eq(checks.checkId, checkId), isNull(checks.endedAt), sameRun(runId)))
      .returning();
    if (row) await stopRun(deps, tx, row);
    return row ?? null;
  });
  await deps.checkpoint("check-ended");
}

/** The sandbox ended before the check did, such as with its server: the command runs again from its beginning. */
async function repeat(deps: Deps, { checkId, projectId, runId }: CheckRow, run: RunRow): Promise<void> {
  await changeCheck(deps, { projectId }, async (tx) => {
    const [row] = await tx
      .update(checks)
      .set({ state: "queued", startedAt: null })
      .where(and(eq(checks.checkId, checkId), isNull(checks.endedAt), sameRun(runId)))
      .returning();
    if (!row) return null;
    const [current] = await tx.select().from(runs).where(eq(runs.runId, run.runId)).for("update");
    if (current?.status === "stopped") await startAgain(deps, tx, checkRuns, current);
    return row;
  });
}

/** A re-run has another run. */
const sameRun = (runId: string | null) => (runId === null ? isNull(checks.runId) : eq(checks.runId, runId));

/** Sandboxes are not trusted. @returns null: there is no valid result yet */
function readResult(value: unknown): DaemonCheckResult | null {
  const [code, signal, timedOut, ms] = ["exit_code", "signal", "timed_out", "duration_ms"].map((name) =>
    field(value, name),
  );
  if (!(code === null || Number.isInteger(code)) || !(signal === null || typeof signal === "string"))
    return null;
  if (typeof timedOut !== "boolean" || typeof ms !== "number") return null;
  return {
    exit_code: typeof code === "number" ? code : null,
    signal: typeof signal === "string" && /^SIG[A-Z0-9]{1,10}$/.test(signal) ? signal : null,
    timed_out: timedOut,
    duration_ms: ms,
  };
}

function outcomeOf(
  { exit_code: code, signal, timed_out, duration_ms: ms }: DaemonCheckResult,
  { entry }: CheckRow,
): ["success" | "failure", string] {
  if (timed_out) {
    const minutes = entry.timeoutMinutes;
    return ["failure", `Timed out after ${minutes} ${minutes === 1 ? "minute" : "minutes"}`];
  }
  const after = `after ${durationOf(ms)}`;
  if (code === 0) return ["success", `Passed ${after}`];
  return [
    "failure",
    `${code === null ? `Ended by ${signal ?? "a signal"}` : `Exit status ${code}`} ${after}`,
  ];
}

function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
