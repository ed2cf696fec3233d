import { and, asc, between, desc, eq, gt, inArray, isNull, lt, not, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import {
  conversationParts,
  conversations,
  conversationTurns,
  sessionPrompts,
} from "../../../../db/schema/index.ts";
import type { Author } from "../../../contract/author.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { ConversationPage, Turn, TurnPart } from "../../../contract/turn.ts";
import type { Deps } from "../../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../../http/page.ts";
import { authorOf, namesOf } from "../../../identity/auth/actor.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findSession } from "../read.ts";
import { answerersOf } from "./answerers.ts";
import { isOf } from "./of-session.ts";
import { TEXT, textOf } from "./stored-text.ts";
import { type PartRow, partToWire, type TurnRow, type TurnSession, turnToWire } from "./wire.ts";

/** The size of a page: fewer parts than its limit if they are large, but at least one. */
const PAGE_BYTES = 2 * 1024 * 1024;

/**
 * The stored conversation of a session: the newest parts, grouped by turns, in order; the next page has earlier ones.
 * @throws not_found, validation_failed
 */
export async function readConversation(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { limit, cursor }: Page,
  isBrief: boolean,
): Promise<ConversationPage> {
  const { session } = await findSession(deps, project, name);
  const before = readCursor(cursor, NUMBER_CURSOR);
  // of one moment: an answer that is done is whole
  return await deps.db.transaction(
    (tx) => readPage(tx, session, { before: before === null ? null : Number(before), limit, isBrief }),
    {
      isolationLevel: "repeatable read",
      accessMode: "read only",
    },
  );
}

async function readPage(
  tx: Db,
  session: TurnSession,
  { before, limit, isBrief }: { before: number | null; limit: number; isBrief: boolean },
): Promise<ConversationPage> {
  const { sessionId } = session;
  const { number, bytes } = conversationParts;
  const ofSession = isOf(conversationParts, sessionId);
  const sizes = await tx
    .select({ number, bytes })
    .from(conversationParts)
    .where(and(ofSession, before === null ? undefined : lt(number, before)))
    .orderBy(desc(number))
    .limit(limit + 1);
  const { rows, next } = page(sizes, Math.min(limit, countWithin(sizes)), (row) => String(row.number));
  const first = rows.at(-1);
  const parts =
    first === undefined
      ? []
      : await tx
          .select()
          .from(conversationParts)
          .where(and(ofSession, between(number, first.number, rows[0]?.number ?? first.number)))
          .orderBy(asc(number));
  const event_id = String(await versionOf(tx, sessionId));
  return { turns: await turnsOf(tx, session, parts, isBrief), ...next, event_id };
}

/**
 * One part of the stored conversation, whole.
 * @throws not_found
 */
export async function readPart(
  deps: Deps,
  project: ProjectRow,
  name: string,
  partId: string,
): Promise<TurnPart> {
  const { session } = await findSession(deps, project, name);
  const { sessionId } = session;
  const [part] = await deps.db
    .select()
    .from(conversationParts)
    .where(and(isOf(conversationParts, sessionId), eq(conversationParts.partId, partId)));
  const [turn] = part ? await turnRows(deps.db, sessionId, [part.turn]) : [];
  if (!part || !turn)
    throw new SvcError("not_found", `The conversation of session ${sessionId} has no such part.`);
  return partToWire(session, turn, part, await answerersOf(deps.db, sessionId, [part]), false);
}

/** The version of a session's stored conversation; 0 if there is none. */
export async function versionOf(db: Db, sessionId: string): Promise<number> {
  const [head] = await db
    .select({ version: conversations.version })
    .from(conversations)
    .where(eq(conversations.sessionId, sessionId));
  return head?.version ?? 0;
}

/** How many of the rows fit in a page; at least one. */
function countWithin(rows: readonly { bytes: number }[]): number {
  let sum = 0;
  const at = rows.findIndex(({ bytes }) => {
    sum += bytes;
    return sum > PAGE_BYTES;
  });
  return at < 0 ? rows.length : Math.max(1, at);
}

/** Groups parts by their turns, in order. */
async function turnsOf(
  db: Db,
  session: TurnSession,
  parts: readonly PartRow[],
  isBrief: boolean,
): Promise<Turn[]> {
  const numbers = [...new Set(parts.map(({ turn }) => turn))];
  const rows = await turnRows(db, session.sessionId, numbers);
  const authors = await authorsOf(db, session.sessionId, rows);
  const answerers = await answerersOf(db, session.sessionId, parts);
  return rows.map((row) => ({
    ...turnToWire(session, row, authors.get(row.turnId) ?? null),
    parts: parts
      .filter(({ turn }) => turn === row.number)
      .map((part) => partToWire(session, row, part, answerers, isBrief)),
  }));
}

export async function turnRows(db: Db, sessionId: string, numbers: readonly number[]): Promise<TurnRow[]> {
  if (numbers.length === 0) return [];
  return await db
    .select()
    .from(conversationTurns)
    .where(and(isOf(conversationTurns, sessionId), inArray(conversationTurns.number, [...numbers])))
    .orderBy(asc(conversationTurns.number));
}

/** The authors of the prompts of turns, by the turns' ids. */
export async function authorsOf(
  db: Db,
  sessionId: string,
  turns: readonly TurnRow[],
): Promise<Map<string, Author>> {
  const ids = turns.flatMap(({ promptId }) => promptId ?? []);
  if (ids.length === 0) return new Map();
  const { promptId, createdBy, createdActor } = sessionPrompts;
  const rows = await db
    .select({ promptId, createdBy, createdActor })
    .from(sessionPrompts)
    .where(and(eq(sessionPrompts.sessionId, sessionId), inArray(promptId, ids)));
  const names = await namesOf(
    db,
    rows.map((row) => row.createdBy),
  );
  const byPrompt = new Map(
    rows.map((row) => [row.promptId, authorOf(names, row.createdBy, row.createdActor)] as const),
  );
  return new Map(
    turns.flatMap((turn) => {
      const author = turn.promptId === null ? undefined : byPrompt.get(turn.promptId);
      return author ? [[turn.turnId, author] as const] : [];
    }),
  );
}

/** Joins parts with the turns that they belong to. */
const OF_TURN = and(
  eq(conversationParts.conversation, conversationTurns.conversation),
  eq(conversationParts.turn, conversationTurns.number),
);

/** The answers to prompts, by the prompts' ids: the texts after the last use of a tool. */
export async function answersTo(
  db: Db,
  sessionId: string,
  promptIds: readonly string[],
): Promise<Map<string, string>> {
  if (promptIds.length === 0) return new Map();
  const lastTool = sql`(select coalesce(max(t.number), 0) from conversation_parts t where t.conversation = ${conversationParts.conversation} and t.turn = ${conversationParts.turn} and t.parent_id is null and t.kind in ('tool', 'plan', 'question'))`;
  const rows = await db
    .select({ promptId: conversationTurns.promptId, ...TEXT })
    .from(conversationTurns)
    .innerJoin(conversationParts, OF_TURN)
    .where(
      and(
        isOf(conversationTurns, sessionId),
        inArray(conversationTurns.promptId, [...promptIds]),
        eq(conversationParts.kind, "text"),
        isNull(conversationParts.parentId),
        gt(conversationParts.number, lastTool),
      ),
    )
    .orderBy(asc(conversationParts.number));
  const byPrompt = Map.groupBy(rows, ({ promptId }) => promptId ?? "");
  return new Map([...byPrompt].map(([promptId, texts]) => [promptId, texts.map(textOf).join("\n\n")]));
}

/** The tool that the agent uses to answer a prompt, with its input in one line; null: none. */
export async function toolInUse(db: Db, sessionId: string, promptId: string): Promise<string | null> {
  const { kind, isComplete, parentId, number, tool } = conversationParts;
  const [part] = await db
    .select({ name: sql<string>`${tool}->>'name'`, title: sql<string>`${tool}->>'title'` })
    .from(conversationParts)
    .innerJoin(conversationTurns, OF_TURN)
    .where(
      and(
        isOf(conversationTurns, sessionId),
        eq(conversationTurns.promptId, promptId),
        eq(kind, "tool"),
        not(isComplete),
        isNull(parentId),
      ),
    )
    .orderBy(desc(number))
    .limit(1);
  return part ? `${part.name} ${part.title}` : null;
}
