import type { Db } from "../../../../db/client.ts";
import type { sessionPrompts } from "../../../../db/schema/index.ts";
import type { Prompt, PromptChange } from "../../../contract/prompt.ts";
import { authorOf, namesOf } from "../../../identity/auth/actor.ts";
import { answersTo } from "../conversation/read.ts";

export type PromptRow = typeof sessionPrompts.$inferSelect;

/** Prompts of one session as the API returns them. */
export async function promptsToWire(db: Db, rows: readonly PromptRow[]): Promise<Prompt[]> {
  const names = await authorsOf(db, rows);
  const ended = rows.filter(({ endedAt }) => endedAt !== null).map(({ promptId }) => promptId);
  const answers = await answersTo(db, rows[0]?.sessionId ?? "", ended);
  return rows.map((row) => ({
    ...changeToWire(names, row),
    text: row.text,
    answer: answers.get(row.promptId) ?? null,
  }));
}

/** As `promptsToWire`, for one. */
export async function promptToWire(db: Db, row: PromptRow): Promise<Prompt> {
  const [prompt] = await promptsToWire(db, [row]);
  if (!prompt) throw new Error("a prompt has no wire format");
  return prompt;
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
    attachments: row.attachments,
    created_by: row.createdBy,
    author: authorOf(names, row.createdBy, row.createdActor),
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
