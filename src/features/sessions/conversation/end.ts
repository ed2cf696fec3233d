import { and, eq, exists, inArray, not, notInArray, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { conversationParts, conversations, conversationTurns } from "../../../../db/schema/index.ts";
import { isOf } from "./of-session.ts";

/** Records that a session's sandbox has ended: what it was answering was cut off. */
export async function interruptTurns(tx: Db, sessionId: string, at: Date): Promise<void> {
  const [head] = await tx
    .update(conversations)
    .set({ version: sql`${conversations.version} + 1` })
    .where(eq(conversations.sessionId, sessionId))
    .returning({ version: conversations.version });
  if (!head) return;
  const cut = await tx
    .update(conversationTurns)
    .set({ state: "interrupted", endedAt: at, version: head.version })
    .where(and(isOf(conversationTurns, sessionId), eq(conversationTurns.state, "working")))
    .returning({ number: conversationTurns.number });
  await tx
    .update(conversationParts)
    .set({ version: head.version })
    .where(
      and(
        isOf(conversationParts, sessionId),
        eq(conversationParts.isComplete, false),
        inArray(
          conversationParts.turn,
          cut.map(({ number }) => number),
        ),
      ),
    );
}

/** Ends the permission requests that were answered while nobody followed. Those of an aborted turn had no answer. */
export async function endRequests(db: Db, sessionId: string, open: readonly string[]): Promise<void> {
  const { kind, isComplete, partId, turn, version } = conversationParts;
  const ofTurn = db
    .select({ number: conversationTurns.number })
    .from(conversationTurns)
    .where(
      and(
        isOf(conversationTurns, sessionId),
        inArray(conversationTurns.state, ["working", "done", "failed"]),
      ),
    );
  const isEnded = and(
    isOf(conversationParts, sessionId),
    eq(kind, "permission"),
    not(isComplete),
    notInArray(partId, [...open]),
    inArray(turn, ofTurn),
  );
  const head = db.$with("head").as(
    db
      .update(conversations)
      .set({ version: sql`${conversations.version} + 1` })
      .where(
        and(
          eq(conversations.sessionId, sessionId),
          exists(db.select({ version }).from(conversationParts).where(isEnded)),
        ),
      )
      .returning({ next: sql<number>`${conversations.version}`.as("next") }),
  );
  await db
    .with(head)
    .update(conversationParts)
    .set({ isComplete: true, version: sql`(select next from head)` })
    .where(and(isEnded, sql`exists (select from head)`));
}
