import { and, desc, eq, isNotNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import {
  conversationAnswers,
  conversationParts,
  conversations,
  projectSessions,
} from "../../../../db/schema/index.ts";
import type { WaitingFor } from "../../../contract/session.ts";
import type { RuntimeRequest } from "../../../conversation/request.ts";
import type { Deps } from "../../../deps.ts";
import { derivedId } from "../../../lib/derived-id.ts";
import { isOf } from "../conversation/of-session.ts";
import { queuePrompt } from "../prompts/accept.ts";
import { lockSession } from "../row.ts";

/** An answer that fits what was asked. */
export type Reply = { answers: string[][] } | { reply: "once" | "always" | "reject" };

/** The prompt by which an agent gets an answer: a channel that posted the question follows it. */
export const answerPromptId = (sessionId: string, requestId: string) =>
  derivedId("answer of a kept request", sessionId, requestId);

/**
 * Answers what an agent asked in a sandbox that has ended, all in one transaction: the stored conversation has the answer,
 * and the agent gets it as a prompt, for which a stopped session starts again. Its runtime will ask for a permission once
 * more, which is given then (`grant.ts`).
 * @returns false: it is not open any more
 * @throws concurrent_session_limit, prompt_queue_full, session_failed
 */
export async function answerKept(
  deps: Deps,
  userId: string,
  { sessionId, request }: { sessionId: string; request: WaitingFor },
  reply: Reply,
): Promise<boolean> {
  const { request_id: requestId } = request;
  const isOpen = await deps.db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    if (session?.keptRequest?.request_id !== requestId || session.goal === "deleted") return false;
    await recordReply(deps, tx, { sessionId, userId }, reply);
    await queuePrompt(deps, tx, session, {
      promptId: answerPromptId(sessionId, requestId),
      text: answerText(request, reply),
      by: { userId, actor: null },
    });
    if ("reply" in reply && reply.reply !== "reject") {
      const { permission, patterns } = request;
      const granted = { permission, patterns, reply: reply.reply };
      await tx
        .update(projectSessions)
        .set({ grantedRequest: granted })
        .where(eq(projectSessions.sessionId, sessionId));
    }
    return true;
  });
  deps.changes.notify(sessionId);
  return isOpen;
}

/** Records the answer in the part of the conversation that asked. An aborted conversation may have none. */
async function recordReply(
  { clock }: Pick<Deps, "clock">,
  tx: Db,
  { sessionId, userId }: { sessionId: string; userId: string },
  reply: Reply,
): Promise<void> {
  const { request, number, isComplete } = conversationParts;
  const ofSession = isOf(conversationParts, sessionId);
  const [head] = await tx
    .update(conversations)
    .set({ version: sql`${conversations.version} + 1` })
    .where(eq(conversations.sessionId, sessionId))
    .returning({ version: conversations.version });
  const [part] = await tx
    .select({ number, request })
    .from(conversationParts)
    .where(and(ofSession, isNotNull(request), eq(isComplete, false)))
    .orderBy(desc(number))
    .limit(1);
  if (!head || !part?.request) return;
  await tx
    .update(conversationParts)
    .set({
      request: withReply(part.request, reply),
      isComplete: true,
      isRejected: "reply" in reply && reply.reply === "reject",
      version: head.version,
    })
    .where(and(ofSession, eq(number, part.number)));
  await tx
    .insert(conversationAnswers)
    .values({ sessionId, requestId: part.request.request_id, answeredBy: userId, at: clock() })
    .onConflictDoNothing();
}

function withReply(request: RuntimeRequest, reply: Reply): RuntimeRequest {
  if ("reply" in reply) return { ...request, reply: reply.reply };
  const questions = request.questions.map((question, at) => ({
    ...question,
    answers: reply.answers[at] ?? [],
  }));
  return { ...request, questions };
}

/** What the agent reads: it may not remember what it asked. */
function answerText({ permission, patterns, questions }: WaitingFor, reply: Reply): string {
  const head =
    "Your sandbox was stopped while you waited for an answer, and its files were saved and restored.";
  const asked =
    "reply" in reply
      ? [
          `You asked for a permission: ${permission} ${patterns.join(", ")}`,
          `The answer: ${GIVEN[reply.reply]}`,
        ]
      : questions.flatMap(({ question }, at) => [
          `You asked: ${question}`,
          `The answer: ${(reply.answers[at] ?? []).join(", ") || "none"}`,
        ]);
  return [head, ...asked, "Go on with your work from there."].join("\n\n");
}

const GIVEN = {
  once: "allowed. Do it again: you will be allowed to.",
  always: "allowed. Do it again: you will be allowed to.",
  reject: "not allowed. Do not do it.",
} as const;
