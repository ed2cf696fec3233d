import type { sessionPrompts } from "../../../db/schema/index.ts";
import type { Prompt, PromptChange } from "../../contract/prompt.ts";

export type PromptRow = typeof sessionPrompts.$inferSelect;

/** A prompt's row as it crosses the wire. */
export function promptToWire(row: PromptRow): Prompt {
  return { ...changeToWire(row), text: row.text };
}

export function changeToWire(row: Omit<PromptRow, "text">): PromptChange {
  return {
    prompt_id: row.promptId,
    session_id: row.sessionId,
    number: row.number,
    state: row.state,
    error: row.error,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
