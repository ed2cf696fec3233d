import { eq } from "drizzle-orm";
import { projects, runs } from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { createPlaceWriter } from "./blocked.ts";
import { withClaim } from "./claim.ts";
import { endRun, removeRun } from "./end.ts";
import { fail } from "./fail.ts";
import { kindOf, type RunKind, type RunKinds, type Start } from "./kind.ts";
import { startSandbox } from "./start.ts";
import { StartQueue } from "./start-queue.ts";
import { watchGoal } from "./watch-goal.ts";

/** A run whose goal keeps changing yields to others: the reconciler enqueues its job again. */
const STEPS_MAX = 10;

/**
 * The one job of a run, for its start, stop and deletion alike: it brings the status to the goal. It is idempotent: an
 * interrupted job runs again. One process works on a run at a time, and watches for changes of the goal.
 * @returns the job; its signal is aborted when the server stops, and the next server continues
 */
export function createConverger(
  deps: Deps,
  kinds: RunKinds,
): (runId: string, signal: AbortSignal) => Promise<void> {
  /** Runs that this process works on → whether their job was enqueued again meanwhile. */
  const busy = new Map<string, boolean>();
  const queue = new StartQueue(deps.config.startsAtOnce, createPlaceWriter(deps));
  return async (runId, signal) => {
    if (busy.has(runId)) {
      busy.set(runId, true);
      return;
    }
    try {
      do {
        busy.set(runId, false);
        await withClaim(deps, runId, (lost) =>
          converge({ deps, kinds, queue }, runId, AbortSignal.any([signal, lost])),
        );
      } while (busy.get(runId));
    } finally {
      busy.delete(runId);
    }
  };
}

interface Work {
  deps: Deps;
  kinds: RunKinds;
  queue: StartQueue;
}

async function converge({ deps, kinds, queue }: Work, runId: string, signal: AbortSignal): Promise<void> {
  for (let step = 0; step < STEPS_MAX; step++) {
    signal.throwIfAborted();
    const [start] = await deps.db
      .select({ run: runs, project: projects })
      .from(runs)
      .innerJoin(projects, eq(projects.projectId, runs.projectId))
      .where(eq(runs.runId, runId));
    // the reconciler ends the sandboxes of a deleted project
    if (!start) return;
    const { run } = start;
    // the job is from before the run moved to another server
    if (!isWithinReach(deps, run)) return;
    const kind = kindOf(kinds, run);
    if (run.goal === "deleted") return await removeRun(deps, kind, run);
    if (!isAlive(run)) return;
    if (run.goal === "stopped") await endRun(deps, kind, run);
    else if (run.status === "provisioning") await begin(deps, kind, start, queue, signal);
    else return;
  }
}

async function begin(
  deps: Deps,
  kind: RunKind,
  start: Start,
  queue: StartQueue,
  signal: AbortSignal,
): Promise<void> {
  const goal = watchGoal(deps, start.run);
  try {
    await startSandbox(deps, kind, start, queue, AbortSignal.any([signal, goal.signal]));
  } catch (error) {
    // the goal has changed: the next step acts on it
    if (goal.signal.aborted) return;
    if (signal.aborted) throw error;
    await fail(deps, kind, start.run, error);
  } finally {
    goal.stop();
  }
}
