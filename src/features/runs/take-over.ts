import { and, eq, isNotNull, isNull, lt, ne, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { runs, servers } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { declareGone, forgetServers, goneSince } from "../../jobs/gone.ts";
import { recordSandboxEnd } from "./keys.ts";
import { kindOf, type RunKind, type RunKinds } from "./kind.ts";
import { openLog } from "./log.ts";
import { isUp, type RunRow } from "./row.ts";

/** Runs that are taken over per round; the next round takes the rest. */
const BATCH = 200;

/**
 * Takes over the runs of servers that are gone, whose jobs no longer run. A server that comes back stops the sandboxes
 * on its machine that no longer belong to a run.
 */
export async function takeOver(deps: Deps, kinds: RunKinds): Promise<void> {
  for (const { id, seenAt } of await declareGone(deps))
    deps.log.warn({ server: id, seenAt }, "a server has stopped sending heartbeats: taking over its runs");
  const left = await deps.db
    .select({ runId: runs.runId })
    .from(runs)
    .innerJoin(servers, eq(servers.id, runs.place))
    .where(
      and(
        ne(servers.id, deps.serverId),
        isNotNull(servers.goneAt),
        or(eq(runs.goal, "deleted"), isUp),
        // the holder of a claim is alive, and is about to renew its heartbeat
        or(isNull(runs.workerUntil), lt(runs.workerUntil, sql`now()`)),
      ),
    )
    .limit(BATCH);
  for (const { runId } of left) {
    await deps.db.transaction((tx) => settle(deps, tx, kinds, runId));
    deps.changes.notify(runId);
  }
  await forgetServers(deps);
}

async function settle(deps: Deps, tx: Db, kinds: RunKinds, runId: string): Promise<void> {
  const [run] = await tx.select().from(runs).where(eq(runs.runId, runId)).for("update");
  const since = run && (await goneSince(deps, tx, run.place));
  if (run && since) await settleGone(deps, tx, kindOf(kinds, run), run, since);
}

/**
 * Settles a run without its server: deleted or stopped, if that is its goal, and failed otherwise. Its keys are revoked,
 * so that a sandbox which still runs can change nothing.
 * @param tx has the run's row locked, and has called `goneSince`
 * @returns the row as it is now; null when it was deleted
 */
export async function settleGone(
  deps: Deps,
  tx: Db,
  kind: RunKind,
  run: RunRow,
  since: Date,
): Promise<RunRow | null> {
  const { runId, goal } = run;
  const ofRun = eq(runs.runId, runId);
  if (goal === "deleted") {
    await tx.delete(runs).where(ofRun);
    await kind.publish(deps, tx, run, "deleted");
    return null;
  }
  const now = deps.clock();
  const reason = `the server on its machine has not sent a heartbeat since ${minuteOf(since)}.`;
  const error = kind.text.lost(runId, reason);
  const isStopped = goal === "stopped";
  const end = isStopped ? { status: "stopped" as const, step: null } : { status: "failed" as const, error };
  const [row] = await tx
    .update(runs)
    .set({ ...end, updatedAt: now })
    .where(and(ofRun, isUp))
    .returning();
  if (!row) return run;
  await recordSandboxEnd(tx, kind, runId, isStopped ? "stopped" : "error", now);
  const log = openLog({ ...deps, db: tx }, runId);
  log.write("svc", isStopped ? `${kind.text.stopped.replace(/\.$/, "")}: ${reason}` : error);
  await log.flush();
  await kind.publish(deps, tx, row, "changed");
  return row;
}

/** A time to the minute: heartbeats are not more precise. */
function minuteOf(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
