import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { conversationAnswers } from "../../../../db/schema/index.ts";
import type { Author } from "../../../contract/author.ts";
import type { Deps } from "../../../deps.ts";
import { authorOf, namesOf } from "../../../identity/auth/actor.ts";
import type { PartRow } from "./wire.ts";

/**
 * Records who answers what an agent asked: the first who does.
 * @param requestId see `requestIdOf`
 */
export async function recordAnswer(
  deps: Pick<Deps, "db" | "clock">,
  sessionId: string,
  requestId: string,
  userId: string,
): Promise<{ undo: () => Promise<void> }> {
  const recorded = await deps.db
    .insert(conversationAnswers)
    .values({ sessionId, requestId, answeredBy: userId, at: deps.clock() })
    .onConflictDoNothing()
    .returning({ requestId: conversationAnswers.requestId });
  return {
    undo: async () => {
      if (recorded.length > 0) await deps.db.delete(conversationAnswers).where(isOf(sessionId, [requestId]));
    },
  };
}

/** Who answered what these parts ask, by the ids of the requests. */
export async function answerersOf(
  db: Db,
  sessionId: string,
  parts: readonly Pick<PartRow, "request">[],
): Promise<Map<string, Author>> {
  const ids = parts.flatMap(({ request }) => request?.request_id ?? []);
  if (ids.length === 0) return new Map();
  const { requestId, answeredBy } = conversationAnswers;
  const rows = await db
    .select({ requestId, answeredBy })
    .from(conversationAnswers)
    .where(isOf(sessionId, ids));
  const names = await namesOf(
    db,
    rows.map((row) => row.answeredBy),
  );
  return new Map(rows.map((row) => [row.requestId, authorOf(names, row.answeredBy, null)]));
}

const isOf = (sessionId: string, ids: readonly string[]) =>
  and(eq(conversationAnswers.sessionId, sessionId), inArray(conversationAnswers.requestId, [...ids]));
