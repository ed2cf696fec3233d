import { and, desc, eq, inArray, isNull, lte, not, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import {
  conversationParts,
  conversations,
  conversationTurns,
  sessionPrompts,
} from "../../../../db/schema/index.ts";
import { CONVERSATION_MAX_BYTES, PART_TEXT_MAX } from "../../../contract/limits.ts";
import { messageEndOf } from "../../../contract/prompt-message.ts";
import { isText, type RuntimePart } from "../../../conversation/runtime-message.ts";
import type { RuntimeTurn } from "../../../conversation/runtime-turn.ts";
import type { TurnChanges } from "../../../conversation/runtime-turns.ts";
import type { Deps } from "../../../deps.ts";
import type { SessionRow } from "../row.ts";
import { endRequests } from "./end.ts";
import { isOf } from "./of-session.ts";
import { keptOf, partRow, type Stored, storable } from "./part-row.ts";
import type { Redact } from "./redact.ts";
import { storedText, TEXT, textOf } from "./stored-text.ts";

/** The name in `changes` under which changes of a stored conversation are announced. */
export const conversationOf = (sessionId: string): string => `conversation ${sessionId}`;

/** Turns, and parts, that get one version: so many are read at a time, and Postgres accepts 65,535 parameters. */
export const STORED_AT_ONCE = 200;
/** The prompts among which those of new turns are searched: more than can be queued. */
const PROMPTS = 200;

type StoredSession = Pick<SessionRow, "sessionId" | "generation">;

/**
 * Stores changes of a session's conversation. Turns and parts are recognized by their ids, so that any number of servers
 * may store the same ones in any order: a turn that is done and a part that is complete stay so, and a text under way does
 * not become shorter. New ones are numbered in the order given.
 */
export async function storeTurns(
  deps: Pick<Deps, "db" | "changes">,
  session: StoredSession,
  changes: TurnChanges,
  redact: Redact,
): Promise<void> {
  const { turns, open } = changes;
  const parts: RuntimePart[] = [];
  for (const part of changes.parts)
    if (turns.length > 0 || !(await storeGrowth(deps.db, session, part, redact))) parts.push(part);
  for (let at = 0; at < Math.max(turns.length, parts.length); at += STORED_AT_ONCE) {
    const to = at + STORED_AT_ONCE;
    await storeBatch(deps, session, { turns: turns.slice(at, to), parts: parts.slice(at, to) }, redact);
  }
  if (open) await endRequests(deps.db, session.sessionId, open);
  deps.changes.notify(conversationOf(session.sessionId));
}

/**
 * Stores more of a text in one statement, which is what most changes are.
 * @returns whether it did: the part was stored before, is not complete, and was not longer
 */
async function storeGrowth(
  db: Db,
  { sessionId }: StoredSession,
  { partId, kind, isComplete, text }: RuntimePart,
  redact: Redact,
): Promise<boolean> {
  if (isComplete || !isText(kind) || text.length > PART_TEXT_MAX) return false;
  const kept = keptOf(text, redact);
  const bytes = Buffer.byteLength(kept);
  const { partId: id, isComplete: isEnded, isCut, bytes: before, version } = conversationParts;
  const growing = db.$with("growing").as(
    db
      .select({ before })
      .from(conversationParts)
      .where(
        and(isOf(conversationParts, sessionId), eq(id, partId), not(isEnded), not(isCut), lte(before, bytes)),
      ),
  );
  const head = db.$with("head").as(
    db
      .update(conversations)
      .set({
        version: sql`${conversations.version} + 1`,
        bytes: sql`${conversations.bytes} + ${bytes} - (select bytes from growing)`,
      })
      .where(
        and(
          eq(conversations.sessionId, sessionId),
          sql`${conversations.bytes} + ${bytes} - (select bytes from growing) <= ${CONVERSATION_MAX_BYTES}`,
        ),
      )
      .returning({ next: sql<number>`${conversations.version}`.as("next") }),
  );
  const stored = await db
    .with(growing, head)
    .update(conversationParts)
    .set({ ...storedText(kept), bytes, version: sql`(select next from head)` })
    .where(
      and(isOf(conversationParts, sessionId), eq(id, partId), not(isEnded), sql`exists (select from head)`),
    )
    .returning({ version });
  return stored.length > 0;
}

async function storeBatch(
  deps: Pick<Deps, "db">,
  { sessionId, generation }: StoredSession,
  { turns, parts }: Pick<TurnChanges, "turns" | "parts">,
  redact: Redact,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const head = await nextVersion(tx, sessionId);
    const writer = { tx, sessionId, generation, head, redact };
    const numbers = await writeTurns(writer, turns);
    await writeParts(writer, parts, numbers);
    const { lastTurn, lastPart, bytes } = head;
    await tx
      .update(conversations)
      .set({ lastTurn, lastPart, bytes })
      .where(eq(conversations.sessionId, sessionId));
  });
}

/** Locks the row of a conversation, and counts a change. */
async function nextVersion(tx: Db, sessionId: string): Promise<typeof conversations.$inferSelect> {
  const set = { version: sql`${conversations.version} + 1` };
  const [known] = await tx
    .update(conversations)
    .set(set)
    .where(eq(conversations.sessionId, sessionId))
    .returning();
  if (known) return known;
  // each insert uses up an id, also one of a row that exists
  const [made] = await tx
    .insert(conversations)
    .values({ sessionId, version: 1 })
    .onConflictDoUpdate({ target: conversations.sessionId, set })
    .returning();
  if (!made) throw new Error("the upsert of a conversation returned no row");
  return made;
}

interface Writer {
  tx: Db;
  sessionId: string;
  generation: number;
  /** The locked row; its counters are updated. */
  head: typeof conversations.$inferSelect;
  redact: Redact;
}

/** @returns the numbers of these turns, by id */
async function writeTurns(
  { tx, sessionId, generation, head, redact }: Writer,
  turns: readonly RuntimeTurn[],
): Promise<Map<string, number>> {
  const numbers = await numbersOf(
    tx,
    sessionId,
    turns.map(({ turnId }) => turnId),
  );
  const isNew = turns.some(({ turnId }) => !numbers.has(turnId));
  const promptOf = isNew ? await promptFinder(tx, sessionId) : () => null;
  const rows = turns.map((turn) => {
    const number = numbers.get(turn.turnId) ?? ++head.lastTurn;
    numbers.set(turn.turnId, number);
    return {
      ...turn,
      conversation: head.id,
      generation,
      number,
      promptId: promptOf(turn.turnId),
      error: turn.error === null ? null : storable(redact(turn.error)),
      retry: turn.retry && { ...turn.retry, message: storable(redact(turn.retry.message)) },
      model: turn.model === null ? null : storable(turn.model),
      startedAt: new Date(turn.startedAt),
      endedAt: turn.endedAt === null ? null : new Date(turn.endedAt),
      version: head.version,
    };
  });
  const { state, error, retry, model, tokens, cost, endedAt } = conversationTurns;
  const next = (name: string) => sql.raw(`excluded."${name}"`);
  if (rows.length === 0) return numbers;
  await tx
    .insert(conversationTurns)
    .values(rows)
    .onConflictDoUpdate({
      target: [conversationTurns.conversation, conversationTurns.turnId],
      set: {
        state: next("state"),
        error: next("error"),
        retry: next("retry"),
        model: sql`coalesce(${next("model")}, ${model})`,
        tokens: sql`coalesce(${next("tokens")}, ${tokens})`,
        cost: sql`coalesce(${next("cost")}, ${cost})`,
        endedAt: next("ended_at"),
        version: head.version,
      },
      setWhere: sql`not (${state} = 'done' and ${next("state")} = 'working') and (${state}, ${error}, ${retry}, ${model}, ${tokens}, ${cost}, ${endedAt}) is distinct from (${next("state")}, ${next("error")}, ${next("retry")}, coalesce(${next("model")}, ${model}), coalesce(${next("tokens")}, ${tokens}), coalesce(${next("cost")}, ${cost}), ${next("ended_at")})`,
    });
  return numbers;
}

async function writeParts(
  writer: Writer,
  parts: readonly RuntimePart[],
  turns: ReadonlyMap<string, number>,
): Promise<void> {
  const { tx, sessionId, head } = writer;
  const known = await partsOf(
    tx,
    sessionId,
    parts.map(({ partId }) => partId),
  );
  const missing = parts.map(({ turnId }) => turnId).filter((id) => !turns.has(id));
  const earlier = await numbersOf(tx, sessionId, missing);
  const lacking = parts.filter(({ mayLack, isComplete }) => mayLack && isComplete);
  const texts = await textsOf(
    tx,
    sessionId,
    lacking.map(({ partId }) => partId),
  );
  const rows = parts.flatMap((each) => {
    const stored = each.mayLack ? (texts.get(each.partId) ?? "") : "";
    const part = stored.length > each.text.length ? { ...each, text: stored } : each;
    const turn = turns.get(part.turnId) ?? earlier.get(part.turnId);
    // its turn is older than all that the runtime returned
    if (turn === undefined) return [];
    const before = known.get(part.partId);
    // an event that another server has stored before
    if (before?.isComplete && !part.isComplete) return [];
    const row = partRow(writer, part, turn, before);
    if (!part.isComplete && isText(part.kind) && before && row.bytes < before.bytes) return [];
    head.bytes += row.bytes - (before?.bytes ?? 0);
    known.set(part.partId, row);
    return [row];
  });
  const { isComplete, plainText, deflatedText, tool, plan, request } = conversationParts;
  const next = (name: string) => sql.raw(`excluded."${name}"`);
  if (rows.length === 0) return;
  await tx
    .insert(conversationParts)
    .values(rows)
    .onConflictDoUpdate({
      target: [conversationParts.conversation, conversationParts.partId],
      set: {
        isComplete: next("is_complete"),
        plainText: next("text"),
        deflatedText: next("deflated_text"),
        tool: next("tool"),
        plan: next("plan"),
        request: next("request"),
        isRejected: next("is_rejected"),
        file: next("file"),
        isCut: next("is_cut"),
        bytes: next("bytes"),
        version: head.version,
      },
      setWhere: sql`(${isComplete}, ${plainText}, ${deflatedText}, ${tool}, ${plan}, ${request}) is distinct from (${next("is_complete")}, ${next("text")}, ${next("deflated_text")}, ${next("tool")}, ${next("plan")}, ${next("request")})`,
    });
}

async function numbersOf(tx: Db, sessionId: string, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const { turnId, number } = conversationTurns;
  const rows = await tx
    .select({ turnId, number })
    .from(conversationTurns)
    .where(and(isOf(conversationTurns, sessionId), inArray(turnId, [...new Set(ids)])));
  return new Map(rows.map((row) => [row.turnId, row.number]));
}

async function partsOf(tx: Db, sessionId: string, ids: readonly string[]): Promise<Map<string, Stored>> {
  if (ids.length === 0) return new Map();
  const { partId, number, bytes, isComplete } = conversationParts;
  const rows = await tx
    .select({ partId, number, bytes, isComplete })
    .from(conversationParts)
    .where(and(isOf(conversationParts, sessionId), inArray(partId, [...ids])));
  return new Map(rows.map((row) => [row.partId, row]));
}

async function textsOf(tx: Db, sessionId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select({ partId: conversationParts.partId, ...TEXT })
    .from(conversationParts)
    .where(and(isOf(conversationParts, sessionId), inArray(conversationParts.partId, [...ids])));
  return new Map(rows.map((row) => [row.partId, textOf(row)]));
}

/** Finds the prompt of a message, whose id ends with a hash of the prompt's. */
async function promptFinder(tx: Db, sessionId: string): Promise<(turnId: string) => string | null> {
  const rows = await tx
    .select({ promptId: sessionPrompts.promptId })
    .from(sessionPrompts)
    .where(eq(sessionPrompts.sessionId, sessionId))
    .orderBy(sql`${isNull(sessionPrompts.endedAt)} desc`, desc(sessionPrompts.number))
    .limit(PROMPTS);
  const ends = rows.map(({ promptId }) => [messageEndOf(promptId), promptId] as const);
  return (turnId) => ends.find(([end]) => turnId.endsWith(end))?.[1] ?? null;
}
