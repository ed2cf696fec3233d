import { and, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { sessionPrompts } from "../../../../db/schema/index.ts";

/**
 * Says of the prompt that a session's sandbox was answering, if there is one, that it ended without an answer. What
 * becomes of one that is just being given, who gives it knows.
 */
export async function interruptPrompt(tx: Db, sessionId: string, error: string, at: Date): Promise<void> {
  await tx
    .update(sessionPrompts)
    .set({ state: "interrupted", error, endedAt: at })
    .where(
      and(
        eq(sessionPrompts.sessionId, sessionId),
        eq(sessionPrompts.state, "running"),
        isNotNull(sessionPrompts.startedAt),
      ),
    );
}
