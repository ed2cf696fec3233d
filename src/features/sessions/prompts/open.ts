import { and, asc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import type { PromptRow } from "./wire.ts";

/** Prompts of a session that have not ended. */
function openOf(sessionId: string) {
  return and(eq(sessionPrompts.sessionId, sessionId), isNull(sessionPrompts.endedAt));
}

/** How many prompts of a session are queued or running. */
export async function countOpen(db: Db, sessionId: string): Promise<number> {
  return await db.$count(sessionPrompts, openOf(sessionId));
}

/** How many prompts of a session wait for the one that runs, or for its sandbox. */
export async function countQueued(db: Db, sessionId: string): Promise<number> {
  return await db.$count(sessionPrompts, and(openOf(sessionId), eq(sessionPrompts.state, "queued")));
}

/** The running prompt, or the first queued one. */
export async function nextPrompt(db: Db, sessionId: string): Promise<PromptRow | null> {
  const [row] = await db
    .select()
    .from(sessionPrompts)
    .where(openOf(sessionId))
    .orderBy(asc(sessionPrompts.number))
    .limit(1);
  return row ?? null;
}
