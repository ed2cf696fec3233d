import { and, asc, desc, eq, gt, inArray, lte, not } from "drizzle-orm";
import { conversationParts, conversationTurns, projectSessions } from "../../../../db/schema/index.ts";
import type { ConversationStreamEvent, TurnPart } from "../../../contract/turn.ts";
import type { Deps } from "../../../deps.ts";
import type { LiveSubscription } from "../../../events/live-texts.ts";
import { streamOf } from "../../../http/stream.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findSession, sessionsWithSandbox } from "../read.ts";
import { answerersOf } from "./answerers.ts";
import { isOf } from "./of-session.ts";
import { authorsOf, turnRows, versionOf } from "./read.ts";
import { conversationOf, STORED_AT_ONCE } from "./store.ts";
import { TEXT, textOf } from "./stored-text.ts";
import { type PartRow, partToWire, type TurnRow, type TurnSession, turnToWire } from "./wire.ts";

type OnBytes = (bytes: Uint8Array) => Promise<boolean>;

/** Changes by another server are noticed within this time; those by this one at once. */
const POLL_MS = 1_000;
/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** Rows of each kind that are read at a time. */
const AT_ONCE = STORED_AT_ONCE + 1;
/** Agents write one text at a time; those that were cut off are never completed. */
const TEXTS_UNDER_WAY = 10;

/**
 * The changes of a session's conversation as server-sent events: those after `lastEventId`, or else all of it, and then
 * each one as it is stored, until the session is deleted.
 * @throws not_found, validation_failed
 */
export async function streamConversation(
  deps: Deps,
  project: ProjectRow,
  name: string,
  lastEventId: string | null,
  isBrief: boolean,
): Promise<ReadableStream<Uint8Array>> {
  const { session: found } = await findSession(deps, project, name);
  const { sessionId } = found;
  return streamOf(async (onBytes, signal) => {
    const live = deps.liveTexts.subscribe(sessionId);
    try {
      await sendChanges(onBytes, signal, live);
    } finally {
      live.close();
    }
  });

  async function sendChanges(onBytes: OnBytes, signal: AbortSignal, live: LiveSubscription): Promise<void> {
    let version = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : 0;
    const sent = new SentTexts();
    for (const { partId, text } of await textsUnderWay(deps, sessionId, version)) sent.add(partId, text);
    let quietSince = performance.now();
    // a client that has everything knows at once that it is connected
    await onBytes(Buffer.from(":\n\n"));
    const send = async (event: ConversationStreamEvent, id: number) => {
      quietSince = performance.now();
      await onBytes(Buffer.from(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    };
    while (!signal.aborted) {
      // subscribe before reading, so that no change is missed
      let isChanged = false;
      const changed = deps.changes
        .wait([sessionId, conversationOf(sessionId)], POLL_MS, signal)
        .then(() => (isChanged = true));
      const [row] = await sessionsWithSandbox(deps).where(eq(projectSessions.sessionId, sessionId));
      if (!row) return await send({ type: "deleted", session_id: sessionId }, version);
      const { turns, parts, next } = await changesAfter(deps, sessionId, version);
      const events = await eventsOf(deps, row.session, { turns, parts }, sent, isBrief);
      // a client that disconnects within a version gets all of it again
      for (const [index, event] of events.entries())
        await send(event, index === events.length - 1 ? next : version);
      const isMore = next > version;
      version = next;
      if (isMore) continue;
      if (performance.now() - quietSince > HEARTBEAT_MS) {
        quietSince = performance.now();
        await onBytes(Buffer.from(":\n\n"));
      }
      while (!isChanged && !signal.aborted) {
        for (const { turnId, partId, text } of live.take()) {
          const more = sent.grow(partId, text);
          if (more) await send({ type: "text", turn_id: turnId, part_id: partId, ...more }, version);
        }
        await Promise.race([changed, live.grown()]);
      }
    }
  }
}

/** Turns before the parts that belong to them. */
async function eventsOf(
  deps: Deps,
  session: TurnSession,
  { turns, parts }: { turns: readonly TurnRow[]; parts: readonly PartRow[] },
  sent: SentTexts,
  isBrief: boolean,
): Promise<ConversationStreamEvent[]> {
  const { sessionId } = session;
  const own = await turnRows(deps.db, sessionId, [...new Set(parts.map(({ turn }) => turn))]);
  const authors = await authorsOf(deps.db, sessionId, turns);
  const answerers = await answerersOf(deps.db, sessionId, parts);
  return [
    ...turns.map((turn): ConversationStreamEvent => {
      return { type: "turn", turn: turnToWire(session, turn, authors.get(turn.turnId) ?? null) };
    }),
    ...parts.flatMap((row): ConversationStreamEvent[] => {
      const turn = own.find(({ number }) => number === row.turn);
      if (!turn) return [];
      const { turnId: turn_id } = turn;
      const part = partToWire(session, turn, row, answerers, isBrief);
      const more = sent.continue(part);
      if (more?.text === "") return [];
      return more
        ? [{ type: "text", turn_id, part_id: part.part_id, ...more }]
        : [{ type: "part", turn_id, part }];
    }),
  ];
}

/** The texts that a client has up to a version, and that the agent still writes: what follows is sent from their end on. */
async function textsUnderWay(
  { db }: Deps,
  sessionId: string,
  version: number,
): Promise<{ partId: string; text: string }[]> {
  const { partId, number, isComplete } = conversationParts;
  const rows = await db
    .select({ partId, ...TEXT })
    .from(conversationParts)
    .where(
      and(
        isOf(conversationParts, sessionId),
        lte(conversationParts.version, version),
        not(isComplete),
        not(conversationParts.isCut),
        inArray(conversationParts.kind, ["text", "reasoning"]),
      ),
    )
    .orderBy(desc(number))
    .limit(TEXTS_UNDER_WAY);
  return rows.map((row) => ({ partId: row.partId, text: textOf(row) }));
}

/** What has changed after a version, up to and including `next`. */
async function changesAfter(
  deps: Deps,
  sessionId: string,
  version: number,
): Promise<{ turns: TurnRow[]; parts: PartRow[]; next: number }> {
  // the two lists are read one after the other: what is stored in between is left to the next call
  const last = await versionOf(deps.db, sessionId);
  const isChanged = (table: typeof conversationTurns | typeof conversationParts) =>
    and(isOf(table, sessionId), gt(table.version, version), lte(table.version, last));
  const turns = await deps.db
    .select()
    .from(conversationTurns)
    .where(isChanged(conversationTurns))
    .orderBy(asc(conversationTurns.version), asc(conversationTurns.number))
    .limit(AT_ONCE);
  const parts = await deps.db
    .select()
    .from(conversationParts)
    .where(isChanged(conversationParts))
    .orderBy(asc(conversationParts.version), asc(conversationParts.number))
    .limit(AT_ONCE);
  const next = Math.min(Math.max(version, last), lastWhole(turns), lastWhole(parts));
  const isIncluded = (row: { version: number }) => row.version <= next;
  return { turns: turns.filter(isIncluded), parts: parts.filter(isIncluded), next };
}

/** The last version of which all rows were read: one has fewer rows than are read at a time (`STORED_AT_ONCE`). */
function lastWhole(rows: readonly { version: number }[]): number {
  const last = rows.at(-1);
  return rows.length < AT_ONCE || !last ? Number.POSITIVE_INFINITY : last.version - 1;
}

/** The texts under way that one stream has sent, so that only what follows is sent. */
class SentTexts {
  readonly #texts = new Map<string, string>();

  /** A text that was sent by an earlier stream. */
  add(id: string, text: string): void {
    this.#texts.set(id, text);
  }

  /** What follows what was sent of a stored text; null if the part must be sent as a whole. */
  continue({ part_id: id, tool, state, cut, text }: TurnPart): { from: number; text: string } | null {
    const before = this.#texts.get(id);
    if (tool || state !== "running" || cut) {
      this.#texts.delete(id);
      return null;
    }
    // what was passed on before it was stored is ahead
    if (before?.startsWith(text)) return { from: text.length, text: "" };
    this.#texts.set(id, text);
    return before !== undefined && text.startsWith(before)
      ? { from: before.length, text: text.slice(before.length) }
      : null;
  }

  /** What follows what was sent of a text under way; null if there is nothing, or the stored part must come first. */
  grow(id: string, text: string): { from: number; text: string } | null {
    const before = this.#texts.get(id);
    if (before === undefined || text.length <= before.length || !text.startsWith(before)) return null;
    this.#texts.set(id, text);
    return { from: before.length, text: text.slice(before.length) };
  }
}
