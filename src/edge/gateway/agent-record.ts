import type { AgentRecord } from "../../contract/agent-record.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { keepAgentRecord, readAgentRecord } from "../../features/saved-work/agent-record.ts";
import { runOf } from "./issue.ts";

/** Sends the agent's own record of a session's conversation to the daemon of its sandbox. @throws as `requireDaemon` */
export async function sendRecord(
  deps: Deps,
  authorization: string | null,
  projectName: string,
): Promise<AgentRecord> {
  return await readAgentRecord(deps, await requireDaemon(deps, authorization, projectName));
}

/** Keeps the record that a daemon has read in its sandbox. @throws as `requireDaemon` */
export async function takeRecord(
  deps: Deps,
  authorization: string | null,
  projectName: string,
  record: AgentRecord,
): Promise<void> {
  await keepAgentRecord(deps, await requireDaemon(deps, authorization, projectName), record);
}

/**
 * The session of a daemon.
 * @param authorization the sandbox service key, which the agent cannot read
 * @throws unauthorized, forbidden, not_found
 */
export async function requireDaemon(
  deps: Deps,
  authorization: string | null,
  projectName: string,
): Promise<{ projectId: string; sessionId: string }> {
  const { runId, projectId, branch } = await runOf(deps, authorization, projectName, true);
  if (branch === null)
    throw new SvcError("forbidden", "This sandbox has no session, and so no conversation.");
  return { projectId, sessionId: runId };
}
