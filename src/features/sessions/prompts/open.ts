import { and, asc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import type { PromptRow } from "./wire.ts";

/** The prompts of a session that are not over. */
export function openOf(sessionId: string) {
  return and(eq(sessionPrompts.sessionId, sessionId), isNull(sessionPrompts.endedAt));
}

/** How many prompts of a session wait or are being answered. */
export async function countOpen(db: Db, sessionId: string): Promise<number> {
  return await db.$count(sessionPrompts, openOf(sessionId));
}

/** The prompt whose turn it is: the one that is being answered, or the first that waits. */
export async function nextPrompt(db: Db, sessionId: string): Promise<PromptRow | null> {
  const [row] = await db
    .select()
    .from(sessionPrompts)
    .where(openOf(sessionId))
    .orderBy(asc(sessionPrompts.number))
    .limit(1);
  return row ?? null;
}
