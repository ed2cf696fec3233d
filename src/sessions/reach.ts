import { eq, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { prepared } from "../../db/prepared.ts";
import { projectSessions, projects, sessionSandboxes } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import { DAEMON_PORT } from "../contract/daemon.ts";
import type { Deps } from "../deps.ts";
import type { Daemon } from "../sandboxes/daemon.ts";
import type { SandboxAddress } from "../sandboxes/provider.ts";
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
  const address = addressOf(sandbox.host, sandbox.port);
  return { session, project, daemon: { address, serviceKey, sessionId } };
}

/** @returns an address as the row of a sandbox has it */
export function placeOf({ unix, hostname, port }: SandboxAddress): { host: string; port: number } {
  return unix === undefined ? { host: hostname, port } : { host: unix, port: DAEMON_PORT };
}

/** No name of a host and no address begins with a slash, as the path of a socket does. */
function addressOf(host: string, port: number): SandboxAddress {
  return host.startsWith("/") ? { unix: host } : { hostname: host, port };
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
