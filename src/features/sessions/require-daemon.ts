import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { isWithinReach } from "../../jobs/places.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import { reachSession, type SessionRow } from "./row.ts";

/**
 * The daemon of a running session's sandbox.
 * @param purpose of the sandbox, after "no sandbox"
 * @throws not_running, sandbox_unreachable
 */
export async function requireDaemon(deps: Deps, session: SessionRow, purpose: string): Promise<Daemon> {
  const { sessionId, status } = session;
  if (status !== "running")
    throw new SvcError(
      "not_running",
      `The session ${sessionId} is ${status}, so it has no sandbox ${purpose}. Start it with: svc sessions restart ${sessionId}`,
      { status },
    );
  const reached = isWithinReach(deps, session) ? await reachSession(deps, sessionId) : null;
  if (reached?.daemon) return reached.daemon;
  throw new SvcError(
    "sandbox_unreachable",
    `The sandbox of session ${sessionId} runs on another server's machine. Restart the session from this server to run it here: svc sessions restart ${sessionId}`,
  );
}
