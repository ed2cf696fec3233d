import { and, eq } from "drizzle-orm";
import { agentRecords, conversationTurns } from "../../../../db/schema/index.ts";
import type { RecordedEarlier } from "../../../contract/agent-record.ts";
import type { Deps } from "../../../deps.ts";
import { isOf } from "./of-session.ts";
import { recapOf } from "./recap.ts";

/**
 * What a new sandbox is told of the record that its agent continues with.
 * @returns null without one of this agent, or of a conversation that svc knows
 */
export async function recordedEarlier(
  { db }: Pick<Deps, "db">,
  sessionId: string,
  runtime: string,
): Promise<RecordedEarlier | null> {
  const { turnId } = agentRecords;
  const [last] = await db
    .select({ turn: conversationTurns.number })
    .from(agentRecords)
    .innerJoin(
      conversationTurns,
      and(isOf(conversationTurns, sessionId), eq(conversationTurns.turnId, turnId)),
    )
    .where(and(eq(agentRecords.sessionId, sessionId), eq(agentRecords.runtime, runtime)));
  return last ? { since: await recapOf(db, sessionId, last.turn) } : null;
}
