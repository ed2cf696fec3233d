import { and, desc, eq, inArray, lt, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { conversationParts, conversationTurns } from "../../../../db/schema/index.ts";
import type { ChangeRequestTurn, ChangeRequestTurns } from "../../../contract/change-request-turns.ts";
import { editsOf } from "../../../conversation/written.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../../http/page.ts";
import { isOf } from "./of-session.ts";
import { authorsOf } from "./read.ts";
import { beginningColumns, beginningOf } from "./stored-text.ts";
import { type TurnRow, type TurnSession, turnToWire } from "./wire.ts";

/** Characters of a prompt: what a reader needs to recognize it. */
const PROMPT_MAX = 500;
/** Edits that are read for a page, the newest ones, and the bytes of their lines. */
const EDITS_MAX = 500;
const LINES_MAX_BYTES = 2 * 1024 * 1024;

/**
 * The turns of a session, the newest first, with the lines that they wrote, and the agent's newest plan.
 * @throws validation_failed for a cursor of another list
 */
export async function readWritten(
  db: Db,
  session: TurnSession,
  { limit, cursor }: Page,
): Promise<Omit<ChangeRequestTurns, "session_id">> {
  const { sessionId } = session;
  const before = readCursor(cursor, NUMBER_CURSOR);
  const found = await db
    .select()
    .from(conversationTurns)
    .where(
      and(
        isOf(conversationTurns, sessionId),
        before === null ? undefined : lt(conversationTurns.number, Number(before)),
      ),
    )
    .orderBy(desc(conversationTurns.number))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ number }) => String(number));
  const authors = await authorsOf(db, sessionId, rows);
  const prompts = await promptsOf(db, sessionId, rows);
  const written = await writtenBy(db, sessionId, rows);
  return {
    plan: await newestPlan(db, sessionId),
    turns: rows.map((row) => {
      const { turn_id, number, author, state, started_at } = turnToWire(
        session,
        row,
        authors.get(row.turnId) ?? null,
      );
      const { edits, cut } = written(row.number);
      return { turn_id, number, author, state, started_at, prompt: prompts.get(number) ?? "", edits, cut };
    }),
    ...next,
  };
}

function ofTurns(sessionId: string, turns: readonly TurnRow[]) {
  return and(
    isOf(conversationParts, sessionId),
    inArray(
      conversationParts.turn,
      turns.map(({ number }) => number),
    ),
  );
}

async function promptsOf(db: Db, sessionId: string, turns: readonly TurnRow[]): Promise<Map<number, string>> {
  if (turns.length === 0) return new Map();
  const { turn, kind, number } = conversationParts;
  const rows = await db
    .selectDistinctOn([turn], { turn, ...beginningColumns(PROMPT_MAX) })
    .from(conversationParts)
    .where(and(ofTurns(sessionId, turns), eq(kind, "prompt")))
    .orderBy(turn, number);
  return new Map(rows.map((row) => [row.turn, beginningOf(row, PROMPT_MAX)]));
}

type Written = Pick<ChangeRequestTurn, "edits" | "cut">;

/** @returns finds what a turn wrote; of turns before the last edit that fits, nothing is known */
async function writtenBy(
  db: Db,
  sessionId: string,
  turns: readonly TurnRow[],
): Promise<(turn: number) => Written> {
  if (turns.length === 0) return () => ({ edits: [], cut: false });
  const { turn, tool, number } = conversationParts;
  const rows = await db
    .select({ turn, tool })
    .from(conversationParts)
    .where(and(ofTurns(sessionId, turns), sql`jsonb_array_length(${tool}->'files') > 0`))
    .orderBy(desc(number))
    .limit(EDITS_MAX + 1);
  const edits = new Map<number, Written["edits"]>();
  let bytes = 0;
  let cutAt = rows.length > EDITS_MAX ? (rows[EDITS_MAX]?.turn ?? 0) : 0;
  for (const row of rows.slice(0, EDITS_MAX)) {
    const more = row.tool ? editsOf(row.tool) : [];
    bytes += Buffer.byteLength(JSON.stringify(more));
    if (bytes > LINES_MAX_BYTES) {
      cutAt = row.turn;
      break;
    }
    edits.set(row.turn, [...(edits.get(row.turn) ?? []), ...more]);
  }
  return (of) => ({ edits: edits.get(of) ?? [], cut: of <= cutAt });
}

async function newestPlan(db: Db, sessionId: string) {
  const { plan, kind, number } = conversationParts;
  const [row] = await db
    .select({ plan })
    .from(conversationParts)
    .where(and(isOf(conversationParts, sessionId), eq(kind, "plan")))
    .orderBy(desc(number))
    .limit(1);
  return row?.plan ?? null;
}
