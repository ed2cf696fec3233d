import { and, eq, isNotNull } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import { dropAttachments } from "./attachments.ts";

/**
 * Marks the prompt that a session's sandbox was answering as interrupted. A prompt that is being sent is left to its
 * sender.
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
  await dropAttachments(tx, sessionId);
}
