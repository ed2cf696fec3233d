import type { conversationParts, conversationTurns } from "../../../../db/schema/index.ts";
import type { Author } from "../../../contract/author.ts";
import { isAlive } from "../../../contract/session.ts";
import type { TurnChange, TurnPart } from "../../../contract/turn.ts";
import type { SessionRow } from "../row.ts";

export type TurnRow = typeof conversationTurns.$inferSelect;
export type PartRow = typeof conversationParts.$inferSelect;

/** The session of a turn, which decides whether the turn can still go on. */
export type TurnSession = Pick<SessionRow, "sessionId" | "generation" | "status">;

/** @param author of its prompt; null if unknown */
export function turnToWire(session: TurnSession, row: TurnRow, author: Author | null): TurnChange {
  const isCutOff = row.state === "working" && !isUnderWay(session, row);
  return {
    turn_id: row.turnId,
    session_id: row.sessionId,
    number: row.number,
    prompt_id: row.promptId,
    author,
    state: isCutOff ? "interrupted" : row.state,
    error: row.error,
    model: row.model,
    tokens: row.tokens,
    cost: row.cost,
    started_at: row.startedAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}

/**
 * @param turn the turn that it belongs to
 * @param answerers who answered what the agent asked (`answerersOf`)
 */
export function partToWire(
  session: TurnSession,
  turn: Pick<TurnRow, "state" | "generation">,
  row: PartRow,
  answerers: ReadonlyMap<string, Author>,
): TurnPart {
  return {
    part_id: row.partId,
    number: row.number,
    kind: row.kind,
    state: stateOf(row, turn.state === "working" && isUnderWay(session, turn)),
    text: row.text,
    tool: row.tool,
    plan: row.plan,
    request: row.request && {
      ...row.request,
      answered_by: (row.isComplete && answerers.get(row.request.request_id)) || null,
    },
    file: row.file,
    cut: row.isCut,
    at: row.at.toISOString(),
  };
}

function stateOf({ isComplete, isRejected, tool }: PartRow, isUnderWay: boolean): TurnPart["state"] {
  if (isComplete) return isRejected || tool?.error != null ? "failed" : "done";
  return isUnderWay ? "running" : "interrupted";
}

/** Whether the sandbox that answers it is still there. */
function isUnderWay(session: TurnSession, { generation }: Pick<TurnRow, "generation">): boolean {
  return isAlive(session) && session.generation === generation;
}
