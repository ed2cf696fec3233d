import { eq } from "drizzle-orm";
import { agentRecords, projectSessions } from "../../../db/schema/index.ts";
import type { AgentRecord } from "../../contract/agent-record.ts";
import { SvcError } from "../../contract/errors.ts";
import { DEFAULT_RUNTIME } from "../../contract/runtimes.ts";
import type { Deps } from "../../deps.ts";

interface OfSession {
  projectId: string;
  sessionId: string;
}

/** Keeps the agent's own record of a session's conversation, in place of the one before. */
export async function keepAgentRecord(
  deps: Deps,
  { projectId, sessionId }: OfSession,
  { turn_id: turnId, workspace, record }: AgentRecord,
): Promise<void> {
  const sealed = deps.keys.seal(projectId, purposeOf(sessionId), record);
  const [session] = await deps.db
    .select({ runtime: projectSessions.runtime })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, sessionId));
  const kept = {
    runtime: session?.runtime ?? DEFAULT_RUNTIME,
    turnId,
    workspace,
    record: sealed,
    savedAt: deps.clock(),
  };
  await deps.db
    .insert(agentRecords)
    .values({ sessionId, ...kept })
    .onConflictDoUpdate({ target: agentRecords.sessionId, set: kept });
}

/** @throws not_found without a record, or when it was sealed with another master key */
export async function readAgentRecord(deps: Deps, { projectId, sessionId }: OfSession): Promise<AgentRecord> {
  const [kept] = await deps.db.select().from(agentRecords).where(eq(agentRecords.sessionId, sessionId));
  if (!kept) throw new SvcError("not_found", `svc has no record of the agent of session ${sessionId}.`);
  try {
    const record = deps.keys.open(projectId, purposeOf(sessionId), kept.record);
    return { turn_id: kept.turnId, workspace: kept.workspace, record };
  } catch {
    throw new SvcError("not_found", `The record of the agent of session ${sessionId} cannot be decrypted.`);
  }
}

const purposeOf = (sessionId: string): string => `agent record ${sessionId}`;
