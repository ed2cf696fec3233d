import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { sendAbort } from "../../sandboxes/daemon.ts";
import { answerAsk, readAsks } from "./agent.ts";
import { findSession } from "./read.ts";
import { reachSession } from "./row.ts";

/**
 * Interrupts the agent, and returns when it has stopped. The next queued prompt is then delivered.
 * @throws nothing_to_abort, sandbox_unreachable, not_found, validation_failed
 */
export async function abortSession(deps: Deps, project: ProjectRow, name: string): Promise<{ ok: true }> {
  const { session } = await findSession(deps, project, name);
  if (session.status !== "running")
    throw new SvcError(
      "nothing_to_abort",
      `The session ${session.sessionId} is ${session.status}, so there is nothing to interrupt.`,
      { status: session.status },
    );
  const reached = isWithinReach(deps, session) ? await reachSession(deps, session.sessionId) : null;
  if (!reached?.daemon)
    throw new SvcError(
      "sandbox_unreachable",
      `The sandbox of session ${session.sessionId} runs on another server's machine. Stop the session instead: svc sessions stop ${session.sessionId}`,
    );
  const asks = await readAsks(reached.daemon, session.waitingFor);
  const answer = await sendAbort(reached.daemon);
  if (answer === "none")
    throw new SvcError(
      "nothing_to_abort",
      `The agent of session ${session.sessionId} is idle, so there is nothing to interrupt.`,
    );
  if (answer === "failed")
    throw new SvcError(
      "sandbox_unreachable",
      `The sandbox of session ${session.sessionId} could not interrupt the agent. Try again, or stop the session: svc sessions stop ${session.sessionId}`,
    );
  // opencode keeps what a run has asked when it is aborted
  for (const ask of asks) await answerAsk(reached.daemon, ask, null);
  return { ok: true };
}
