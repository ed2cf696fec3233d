import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestOf } from "../projects/policy.ts";
import { findSession } from "./read.ts";
import type { SessionRow } from "./row.ts";

type Reached = Pick<SessionRow, "sessionId" | "createdActor">;

/**
 * Limits the agent of a session to its own sandbox and those of sessions that it started, unless the manifest sets
 * `[agents] reach = "project"` (contract: Sessions, sandboxes, proxy). Users and their scripts reach all sandboxes of
 * the project.
 * @throws forbidden
 */
export async function requireAgentReach(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  session: Reached,
): Promise<void> {
  if (caller.kind === "user" || caller.sessionId === null) return;
  if (session.sessionId === caller.sessionId || isStartedBy(session, caller.sessionId)) return;
  if ((await reachOf(deps, project)) === "project") return;
  throw new SvcError(
    "forbidden",
    `An agent can only access its own session and the sessions that it started. To allow all sessions of the project, set reach = "project" under [agents] in ${project.manifestPath}.`,
  );
}

/** As `requireAgentReach`, by the session's id. @throws forbidden, not_found, validation_failed */
export async function requireReachTo(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<void> {
  if (caller.kind === "user" || caller.sessionId === null || caller.sessionId === name.toLowerCase()) return;
  const { session } = await findSession(deps, project, name);
  await requireAgentReach(deps, caller, project, session);
}

function isStartedBy({ createdActor }: Reached, sessionId: string): boolean {
  return createdActor?.kind === "agent" && createdActor.sessionId === sessionId;
}

/** A manifest that cannot be read grants nothing. */
async function reachOf(deps: Deps, project: ProjectRow): Promise<"own" | "project"> {
  try {
    return (await readManifestOf(deps, project))?.agents.reach ?? "own";
  } catch (error) {
    if (error instanceof SvcError) return "own";
    throw error;
  }
}
