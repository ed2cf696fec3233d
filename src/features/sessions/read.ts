import { and, desc, eq, ilike, lt, or, sql } from "drizzle-orm";
import { containing } from "../../../db/containing.ts";
import { modelSpend, projectSessions, runs, sessionSandboxes } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Session, SessionStatus } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { sessionColumns } from "./row.ts";
import { allToWire, type FoundSession, toWire } from "./wire.ts";

/** Sessions, each with the row of its sandbox and what its models have cost. */
export function sessionsWithSandbox({ db }: Pick<Deps, "db">) {
  return db
    .select({ session: sessionColumns, sandbox: sessionSandboxes, spent: modelSpend })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .leftJoin(sessionSandboxes, eq(sessionSandboxes.runId, runs.runId))
    .leftJoin(modelSpend, and(eq(modelSpend.scope, projectSessions.sessionId), eq(modelSpend.period, "")));
}

/** The project's sessions, newest update first. */
export async function listSessions(
  deps: Deps,
  project: ProjectRow,
  { status, q = "", ...request }: Page & { status: SessionStatus | undefined; q?: string | undefined },
): Promise<{ sessions: Session[]; next_cursor?: string }> {
  const found = await sessionsWithSandbox(deps)
    .where(
      and(
        eq(projectSessions.projectId, project.projectId),
        status && eq(projectSessions.status, status),
        matches(q.trim()),
        after(request.cursor),
      ),
    )
    .orderBy(desc(projectSessions.updatedAt), desc(projectSessions.sessionId))
    .limit(request.limit + 1);
  const { rows, next } = page(
    found,
    request.limit,
    ({ session }) => `${session.updatedAt.toISOString()} ${session.sessionId}`,
  );
  return { sessions: await allToWire(deps, rows), ...next };
}

/** Matches text in what lists call a session, and in its branch. */
function matches(q: string) {
  if (q === "") return undefined;
  const { name, agentTitle, promptTitle, branchName } = projectSessions;
  const title = sql`coalesce(${name}, ${agentTitle}, ${promptTitle})`;
  return or(ilike(title, containing(q)), ilike(branchName, containing(q)));
}

function after(cursor: string | undefined) {
  const text = readCursor(cursor, CURSOR);
  if (text === null) return undefined;
  const [time = "", id = ""] = text.split(" ");
  const at = new Date(time);
  return or(
    lt(projectSessions.updatedAt, at),
    and(eq(projectSessions.updatedAt, at), lt(projectSessions.sessionId, id)),
  );
}

const CURSOR = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-f-]{36}$/;

/** One session of the project. @throws not_found, validation_failed for an id that is not a UUID */
export async function getSession(deps: Deps, project: ProjectRow, sessionId: string): Promise<Session> {
  return await toWire(deps, await findSession(deps, project, sessionId));
}

/** The rows of one session of the project. @throws not_found, validation_failed */
export async function findSession(
  deps: Pick<Deps, "db">,
  project: Pick<ProjectRow, "projectId">,
  sessionId: string,
): Promise<FoundSession> {
  const id = readSessionId(sessionId);
  const [row] = await sessionsWithSandbox(deps).where(
    and(eq(projectSessions.sessionId, id), eq(projectSessions.projectId, project.projectId)),
  );
  if (!row) throw unknownSession(id);
  return row;
}

/** @throws validation_failed for an id that is not a UUID */
export function readSessionId(text: string): string {
  if (!UUID.test(text))
    throw new SvcError(
      "validation_failed",
      "The session id must be a UUID. List sessions with: svc sessions ls",
    );
  return text.toLowerCase();
}

export function unknownSession(id: string): SvcError {
  return new SvcError(
    "not_found",
    `Session ${id} not found in this project. List sessions with: svc sessions ls`,
  );
}
