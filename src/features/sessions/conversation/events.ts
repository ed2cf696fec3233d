import { and, asc, eq, gt, lte } from "drizzle-orm";
import { conversationParts, conversationTurns, projectSessions } from "../../../../db/schema/index.ts";
import type { ConversationStreamEvent, TurnPart } from "../../../contract/turn.ts";
import type { Deps } from "../../../deps.ts";
import { streamOf } from "../../../http/stream.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findSession, sessionsWithSandbox } from "../read.ts";
import { authorsOf, turnRows, versionOf } from "./read.ts";
import { conversationOf, STORED_AT_ONCE } from "./store.ts";
import { type PartRow, partToWire, type TurnRow, type TurnSession, turnToWire } from "./wire.ts";

/** Changes by another server are noticed within this time; those by this one at once. */
const POLL_MS = 1_000;
/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** Rows of each kind that are read at a time. */
const AT_ONCE = STORED_AT_ONCE + 1;

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
): Promise<ReadableStream<Uint8Array>> {
  const { session: found } = await findSession(deps, project, name);
  const { sessionId } = found;
  return streamOf(async (onBytes, signal) => {
    let version = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : 0;
    const sent = new SentTexts();
    let quietSince = performance.now();
    while (!signal.aborted) {
      // subscribe before reading, so that no change is missed
      const changed = deps.changes.wait([sessionId, conversationOf(sessionId)], POLL_MS, signal);
      const [row] = await sessionsWithSandbox(deps).where(eq(projectSessions.sessionId, sessionId));
      if (!row) {
        await onBytes(lineOf({ type: "deleted", session_id: sessionId }, version));
        return;
      }
      const { turns, parts, next } = await changesAfter(deps, sessionId, version);
      const events = await eventsOf(deps, row.session, turns, parts, sent);
      for (const [index, event] of events.entries()) {
        quietSince = performance.now();
        // a client that disconnects within a version gets all of it again
        await onBytes(lineOf(event, index === events.length - 1 ? next : version));
      }
      const isMore = next > version;
      version = next;
      if (isMore) continue;
      if (performance.now() - quietSince > HEARTBEAT_MS) {
        quietSince = performance.now();
        await onBytes(Buffer.from(":\n\n"));
      }
      await changed;
    }
  });
}

function lineOf(event: ConversationStreamEvent, id: number): Uint8Array {
  return Buffer.from(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Turns before the parts that belong to them. */
async function eventsOf(
  deps: Deps,
  session: TurnSession,
  turns: readonly TurnRow[],
  parts: readonly PartRow[],
  sent: SentTexts,
): Promise<ConversationStreamEvent[]> {
  const { sessionId } = session;
  const own = await turnRows(deps.db, sessionId, [...new Set(parts.map(({ turn }) => turn))]);
  const authors = await authorsOf(deps.db, turns);
  return [
    ...turns.map((turn): ConversationStreamEvent => {
      return { type: "turn", turn: turnToWire(session, turn, authors.get(turn.turnId) ?? null) };
    }),
    ...parts.flatMap((row): ConversationStreamEvent[] => {
      const turn = own.find(({ number }) => number === row.turn);
      if (!turn) return [];
      const { turnId: turn_id } = turn;
      const part = partToWire(session, turn, row);
      const more = sent.continue(part);
      if (more?.text === "") return [];
      return more
        ? [{ type: "text", turn_id, part_id: part.part_id, ...more }]
        : [{ type: "part", turn_id, part }];
    }),
  ];
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
    and(eq(table.sessionId, sessionId), gt(table.version, version), lte(table.version, last));
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

  /** What follows what was sent of a text; null if the part must be sent as a whole. */
  continue({ part_id: id, tool, state, cut, text }: TurnPart): { from: number; text: string } | null {
    const before = this.#texts.get(id);
    this.#texts.delete(id);
    if (tool || state !== "running" || cut) return null;
    this.#texts.set(id, text);
    return before !== undefined && text.startsWith(before)
      ? { from: before.length, text: text.slice(before.length) }
      : null;
  }
}
