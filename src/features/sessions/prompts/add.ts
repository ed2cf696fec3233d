import { and, eq, isNotNull, lte, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import type { Actor } from "../../../../db/schema/actor.ts";
import { projectSessions, sessionPrompts } from "../../../../db/schema/index.ts";
import { addAttachments, metadataOf, type NewAttachment } from "./attachments.ts";
import type { PromptRow } from "./wire.ts";

/** Ended prompts that are kept of a session, the newest. The runtime has the conversation itself. */
const KEPT = 1_000;

/** Appends a prompt to its session's queue. The row of the session is locked until `tx` ends. */
export async function addPrompt(
  tx: Db,
  sessionId: string,
  {
    promptId,
    text,
    attachments = [],
    by,
    at,
  }: {
    promptId: string;
    text: string;
    attachments?: readonly NewAttachment[];
    by: { userId: string; actor: Actor | null };
    at: Date;
  },
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
    attachments: attachments.map(metadataOf),
    createdBy: by.userId,
    createdActor: by.actor,
    createdAt: at,
  };
  const [prompt] = await tx.insert(sessionPrompts).values(values).returning();
  if (!prompt) throw new Error("the insert of a prompt returned no row");
  await addAttachments(tx, prompt, attachments);
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
