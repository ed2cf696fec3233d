import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { checks } from "../../../../db/schema/index.ts";
import type { Check, CheckState } from "../../../contract/check.ts";
import type { StatusState } from "../../../contract/commit-status.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { lockProject } from "../../projects/lock.ts";
import { recordStatus } from "../record-status.ts";

export type CheckRow = typeof checks.$inferSelect;

/** The checks that svc runs on a commit, by name. */
export async function checksOf(
  db: Db,
  { projectId }: Pick<ProjectRow, "projectId">,
  sha: string,
): Promise<CheckRow[]> {
  return await db
    .select()
    .from(checks)
    .where(and(eq(checks.projectId, projectId), eq(checks.sha, sha)))
    .orderBy(asc(checks.name));
}

export function toWire(row: CheckRow): Check {
  return {
    check_id: row.checkId,
    name: row.name,
    sha: row.sha,
    state: row.state,
    description: row.description,
    command: row.entry.command,
    timeout_minutes: row.entry.timeoutMinutes,
    attempt: row.attempt,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

/** The states of a commit status that report those of a check. */
const REPORTED: Readonly<Record<CheckState, StatusState>> = {
  queued: "pending",
  running: "pending",
  success: "success",
  failure: "failure",
  error: "error",
  cancelled: "error",
};

/** Reports the state of a check as a commit status. @returns as `recordStatus` */
export async function report(deps: Deps, tx: Db, row: CheckRow): Promise<ProjectChange[]> {
  const { projectId, sha, name: context, state } = row;
  const description = row.description ?? (state === "queued" ? "Queued" : "Running");
  const { changes } = await recordStatus(
    deps,
    tx,
    { projectId, sha, context, checkRunId: null },
    {
      state: REPORTED[state],
      description,
      targetUrl: null,
      fromHost: false,
      createdBy: null,
      createdActor: null,
    },
  );
  return changes;
}

/**
 * Changes a check, with its status and its events, in one transaction that has the project locked: so changes of a project's
 * checks come one after the other.
 * @param change makes the guarded update; null: it no longer applies
 */
export async function changeCheck(
  deps: Deps,
  { projectId }: Pick<CheckRow, "projectId">,
  change: (tx: Db) => Promise<CheckRow | null>,
): Promise<CheckRow | null> {
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const row = await change(tx);
    if (row) await publish(tx, projectId, ...(await report(deps, tx, row)));
    return row;
  });
}
