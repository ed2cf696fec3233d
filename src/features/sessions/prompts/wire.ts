import type { Db } from "../../../../db/client.ts";
import type { sessionPrompts } from "../../../../db/schema/index.ts";
import type { Prompt, PromptChange } from "../../../contract/prompt.ts";
import { authorOf, namesOf } from "../../../identity/auth/actor.ts";

export type PromptRow = typeof sessionPrompts.$inferSelect;

/** Prompts as the API returns them. */
export async function promptsToWire(db: Db, rows: readonly PromptRow[]): Promise<Prompt[]> {
  const names = await authorsOf(db, rows);
  return rows.map((row) => ({ ...changeToWire(names, row), text: row.text }));
}

/** As `promptsToWire`, for one. */
export async function promptToWire(db: Db, row: PromptRow): Promise<Prompt> {
  return { ...changeToWire(await authorsOf(db, [row]), row), text: row.text };
}

/** As `promptsToWire`, without the texts. */
export async function changesToWire(
  db: Db,
  rows: readonly Omit<PromptRow, "text">[],
): Promise<PromptChange[]> {
  const names = await authorsOf(db, rows);
  return rows.map((row) => changeToWire(names, row));
}

async function authorsOf(db: Db, rows: readonly Pick<PromptRow, "createdBy">[]) {
  return await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
}

function changeToWire(names: ReadonlyMap<string, string>, row: Omit<PromptRow, "text">): PromptChange {
  return {
    prompt_id: row.promptId,
    session_id: row.sessionId,
    number: row.number,
    state: row.state,
    error: row.error,
    created_by: row.createdBy,
    author: authorOf(names, row.createdBy, row.createdActor),
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
