import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { runs } from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { goneSince } from "../../jobs/gone.ts";
import { placeOf, queueOf } from "../../jobs/places.ts";
import type { RunKind } from "./kind.ts";
import type { RunRow } from "./row.ts";
import { settleGone } from "./take-over.ts";

type Change = Partial<
  Pick<
    RunRow,
    "goal" | "status" | "place" | "generation" | "step" | "blockedOn" | "error" | "stopReason" | "readyAt"
  >
>;

/**
 * Adds a run, and enqueues its start.
 * @param place where its sandboxes run; by default the place of this server
 * @returns null when a run with this id already exists
 */
export async function addRun(
  deps: Deps,
  tx: Db,
  { name: kind }: RunKind,
  { runId, projectId, accountId, provider }: Pick<RunRow, "runId" | "projectId" | "accountId" | "provider">,
  place = placeOf(deps, provider),
): Promise<RunRow | null> {
  const now = deps.clock();
  const [row] = await tx
    .insert(runs)
    .values({
      ...{ runId, kind, projectId, accountId, provider },
      place,
      status: "provisioning",
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing()
    .returning();
  if (row) await enqueue(deps, tx, row);
  return row ?? null;
}

/**
 * Sets the goal of a run and enqueues its job: both or neither. The job changes the status (`converge`); when the server
 * that would run the job is gone, this changes it at once. The goal `deleted` is final. The change is published, so
 * this must be the last statement of its transaction.
 * @returns the row as it is now; null when its goal is `deleted`, or it does not exist
 */
export async function setGoal(
  deps: Deps,
  tx: Db,
  kind: RunKind,
  runId: string,
  change: Change,
): Promise<RunRow | null> {
  const [row] = await tx
    .update(runs)
    .set({ ...change, updatedAt: deps.clock() })
    .where(and(eq(runs.runId, runId), ne(runs.goal, "deleted")))
    .returning();
  if (!row) return null;
  const since = await goneSince(deps, tx, row.place);
  if (since) return await settleGone(deps, tx, kind, row, since);
  await enqueue(deps, tx, row);
  await kind.publish(deps, tx, row, "changed");
  return row;
}

async function enqueue(deps: Deps, tx: Db, { place, runId }: RunRow): Promise<void> {
  await deps.jobs.enqueue(tx, queueOf("runs", place), runId);
}

/**
 * Starts a run again, whatever its status is.
 * @param tx has the run's row locked
 * @param place where; by default as `nextPlaceOf`
 * @returns as `setGoal`
 */
export async function startAgain(
  deps: Deps,
  tx: Db,
  kind: RunKind,
  run: RunRow,
  place?: string,
): Promise<RunRow | null> {
  return await setGoal(deps, tx, kind, run.runId, {
    place: place ?? (await nextPlaceOf(deps, tx, run)),
    goal: "running",
    status: "provisioning",
    generation: run.generation + 1,
    step: null,
    blockedOn: null,
    error: null,
    stopReason: null,
    readyAt: null,
  });
}

/** The place of a run's next sandbox: that of this server, if the run has no sandbox or its server is gone. */
export async function nextPlaceOf(deps: Deps, tx: Db, run: RunRow): Promise<string> {
  const isFree = !isAlive(run) || (await goneSince(deps, tx, run.place)) !== null;
  return isFree ? placeOf(deps, run.provider) : run.place;
}
