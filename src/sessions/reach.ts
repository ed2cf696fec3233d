import { eq, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { prepared } from "../../db/prepared.ts";
import { projectSessions, projects, sessionSandboxes } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { Deps } from "../deps.ts";
import type { Daemon } from "../sandboxes/daemon.ts";
import type { SessionRow } from "./wire.ts";

/** A session with what it takes to talk to its sandbox. */
export interface Reached {
  session: SessionRow;
  project: ProjectRow;
  /** Null while there is no sandbox, or its address is not known yet. */
  daemon: Daemon | null;
}

/** What a sandbox's service key is sealed for, beside its project. */
export function keyPurpose(sessionId: string): string {
  return `sandbox key ${sessionId}`;
}

/** Finds a session and its sandbox by the primary key; null when there is no such session. */
export async function reachSession(
  deps: Pick<Deps, "db" | "keys">,
  sessionId: string,
): Promise<Reached | null> {
  const [row] = await sessionAndSandbox(deps.db).execute({ sessionId });
  if (!row) return null;
  const { session, project, sandbox } = row;
  if (!sandbox?.host || sandbox.port === null) return { session, project, daemon: null };
  const serviceKey = deps.keys.open(session.projectId, keyPurpose(sessionId), sandbox.serviceKey);
  const { host: hostname, port } = sandbox;
  return { session, project, daemon: { hostname, port, serviceKey, sessionId } };
}

const sessionAndSandbox = prepared((db: Db) =>
  db
    .select({ session: projectSessions, project: projects, sandbox: sessionSandboxes })
    .from(projectSessions)
    .innerJoin(projects, eq(projects.projectId, projectSessions.projectId))
    .leftJoin(sessionSandboxes, eq(sessionSandboxes.sessionId, projectSessions.sessionId))
    .where(eq(projectSessions.sessionId, sql.placeholder("sessionId")))
    .prepare("session_and_sandbox"),
);
