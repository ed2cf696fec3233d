import type { conversationParts, conversationTurns } from "../../../../db/schema/index.ts";
import type { Author } from "../../../contract/author.ts";
import { isAlive } from "../../../contract/session.ts";
import type { TurnChange, TurnPart, TurnTool } from "../../../contract/turn.ts";
import type { SessionRow } from "../row.ts";
import { textOf } from "./stored-text.ts";

export type TurnRow = typeof conversationTurns.$inferSelect;
export type PartRow = typeof conversationParts.$inferSelect;

/** Characters of a tool's details that a brief part has. */
const BRIEF_MAX = 500;

/** The session of a turn, which decides whether the turn can still go on. */
export type TurnSession = Pick<SessionRow, "sessionId" | "generation" | "status">;

/** @param author of its prompt; null if unknown */
export function turnToWire(session: TurnSession, row: TurnRow, author: Author | null): TurnChange {
  const isCutOff = row.state === "working" && !isUnderWay(session, row);
  return {
    turn_id: row.turnId,
    session_id: session.sessionId,
    number: row.number,
    prompt_id: row.promptId,
    author,
    state: isCutOff ? "interrupted" : row.state,
    error: row.error,
    retry: isCutOff ? null : row.retry,
    sandbox: row.generation,
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
 * @param isBrief whether to leave out what a tool was given and returned, if it is long
 */
export function partToWire(
  session: TurnSession,
  turn: Pick<TurnRow, "state" | "generation">,
  row: PartRow,
  answerers: ReadonlyMap<string, Author>,
  isBrief: boolean,
): TurnPart {
  const brief = isBrief && row.tool !== null && detailsOf(row.tool) > BRIEF_MAX;
  return {
    part_id: row.partId,
    number: row.number,
    parent_id: row.parentId,
    kind: row.kind,
    state: stateOf(row, turn.state === "working" && isUnderWay(session, turn)),
    text: textOf(row),
    tool: row.tool && brief ? { ...row.tool, input: [], output: "", patch: "" } : row.tool,
    plan: row.plan,
    request: row.request && {
      ...row.request,
      answered_by: (row.isComplete && answerers.get(row.request.request_id)) || null,
    },
    file: row.file,
    cut: row.isCut,
    brief,
    at: row.at.toISOString(),
  };
}

/** Characters of what a tool was given and returned. */
function detailsOf({ input, output, patch }: TurnTool): number {
  return input.reduce((sum, { value }) => sum + value.length, output.length + patch.length);
}

function stateOf({ isComplete, isRejected, tool }: PartRow, isUnderWay: boolean): TurnPart["state"] {
  if (isComplete) return isRejected || tool?.error != null ? "failed" : "done";
  return isUnderWay ? "running" : "interrupted";
}

/** Whether the sandbox that answers it is still there. */
function isUnderWay(session: TurnSession, { generation }: Pick<TurnRow, "generation">): boolean {
  return isAlive(session) && session.generation === generation;
}
