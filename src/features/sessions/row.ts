import { eq, getTableColumns, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { projectSessions, projects, runs, sessionSandboxes } from "../../../db/schema/index.ts";
import type { WaitingFor } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { daemonOf, type ReachedRun } from "../runs/reach.ts";
import type { RunRow } from "../runs/row.ts";

/** A session with its run. */
export type SessionRow = RunRow & typeof projectSessions.$inferSelect;

/** For a query that joins `projectSessions` and `runs`. The times are the session's, which change with its run's. */
export const sessionColumns = {
  ...getTableColumns(runs),
  ...getTableColumns(projectSessions),
  status: runs.status,
};

/** One session with its run; null when it does not exist. */
export async function sessionRow(db: Db, sessionId: string): Promise<SessionRow | null> {
  const [row] = await db
    .select(sessionColumns)
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(eq(projectSessions.sessionId, sessionId));
  return row ?? null;
}

/** As `sessionRow`, with the run locked until the transaction ends. */
export async function lockSession(tx: Db, sessionId: string): Promise<SessionRow | null> {
  await tx.select({ id: runs.runId }).from(runs).where(eq(runs.runId, sessionId)).for("update");
  return await sessionRow(tx, sessionId);
}

/** A session with the address and the key of its sandbox's daemon. */
export interface Reached extends Omit<ReachedRun, "run"> {
  session: SessionRow;
  project: ProjectRow;
}

/** Finds a session and its sandbox by the primary key; null when the session does not exist. */
export async function reachSession(
  deps: Pick<Deps, "db" | "keys">,
  sessionId: string,
): Promise<Reached | null> {
  const [row] = await sessionAndSandbox(deps.db).execute({ sessionId });
  if (!row) return null;
  const { session, project, sandbox } = row;
  return { session, project, daemon: daemonOf(deps, session, sandbox) };
}

const sessionAndSandbox = prepared((db: Db) =>
  db
    .select({ session: sessionColumns, project: projects, sandbox: sessionSandboxes })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .innerJoin(projects, eq(projects.projectId, projectSessions.projectId))
    .leftJoin(sessionSandboxes, eq(sessionSandboxes.runId, runs.runId))
    .where(eq(projectSessions.sessionId, sql.placeholder("sessionId")))
    .prepare("session_and_sandbox"),
);

/** The oldest request that a person has to answer, also one of a sandbox that has ended; null if there is none. */
export function openRequest(
  row: Pick<SessionRow, "status" | "activity" | "waitingFor" | "keptRequest">,
): WaitingFor | null {
  const { status, activity, waitingFor, keptRequest } = row;
  if (keptRequest && isAtRest(row)) return keptRequest;
  return status === "running" && activity === "waiting" ? waitingFor : null;
}

/** An agent that works has gone on without an answer to what it asked in an earlier sandbox. */
function isAtRest({ status, activity }: Pick<SessionRow, "status" | "activity">): boolean {
  return status === "stopped" || (status === "running" && (activity === "idle" || activity === null));
}
