import { and, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import type { Actor } from "../../../../db/schema/actor.ts";
import { projectSessions, sessionPrompts } from "../../../../db/schema/index.ts";
import type { PromptRow } from "./wire.ts";

/** Prompts of a session that are kept when they are over: the newest. The conversation itself is the runtime's. */
const KEPT = 1_000;

/** Puts a prompt behind all others of its session. The row of the session is held until `tx` ends. */
export async function addPrompt(
  tx: Db,
  sessionId: string,
  {
    promptId,
    text,
    by,
    at,
  }: { promptId: string; text: string; by: { userId: string; actor: Actor | null }; at: Date },
): Promise<PromptRow> {
  const [session] = await tx
    .update(projectSessions)
    .set({ promptCount: sql`${projectSessions.promptCount} + 1` })
    .where(eq(projectSessions.sessionId, sessionId))
    .returning({ number: projectSessions.promptCount });
  const number = session?.number ?? 1;
  const values = {
    sessionId,
    promptId,
    number,
    text,
    createdBy: by.userId,
    createdActor: by.actor,
    createdAt: at,
  };
  const [prompt] = await tx.insert(sessionPrompts).values(values).returning();
  if (!prompt) throw new Error("a prompt was not written");
  if (number > KEPT) {
    await tx
      .delete(sessionPrompts)
      .where(
        and(
          eq(sessionPrompts.sessionId, sessionId),
          isNotNull(sessionPrompts.endedAt),
          lte(sessionPrompts.number, number - KEPT),
        ),
      );
  }
  return prompt;
}
