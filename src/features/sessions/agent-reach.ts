import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestOf } from "../projects/policy.ts";
import { findSession } from "./read.ts";
import type { SessionRow } from "./row.ts";

type Reached = Pick<SessionRow, "sessionId" | "createdActor">;

/**
 * Keeps the agent of a session to its own sandbox and those of sessions that it started, unless the manifest says
 * `[agents] reach = "project"` (contract: Sessions, sandboxes, proxy). People, and scripts of theirs, reach all of the
 * project's.
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
    `An agent reaches its own session and those that it started, and this is another one. A project that wants more says reach = "project" under [agents] in ${project.manifestPath}.`,
  );
}

/** The same of a session by its name. @throws forbidden, not_found, validation_failed */
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

/** What cannot be read widens nothing. */
async function reachOf(deps: Deps, project: ProjectRow): Promise<"own" | "project"> {
  try {
    return (await readManifestOf(deps, project))?.agents.reach ?? "own";
  } catch (error) {
    if (error instanceof SvcError) return "own";
    throw error;
  }
}
