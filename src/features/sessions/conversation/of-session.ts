import { type SQL, sql } from "drizzle-orm";
import {
  type conversationParts,
  conversations,
  type conversationTurns,
} from "../../../../db/schema/index.ts";

/** Whether a turn, or a part, is of a session's conversation. */
export function isOf(table: typeof conversationTurns | typeof conversationParts, sessionId: string): SQL {
  const { id, sessionId: ofSession } = conversations;
  return sql`${table.conversation} = (select ${id} from ${conversations} where ${ofSession} = ${sessionId})`;
}
