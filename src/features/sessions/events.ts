import { eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import type { LogLine, SessionEvent } from "../../contract/session.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { streamOf } from "../../http/stream.ts";
import { namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type NumberedLine, readLog, readLogAfter } from "../runs/log.ts";
import { readOutput } from "../runs/output.ts";
import { createPromptTeller } from "./prompts/changes.ts";
import { findSession, sessionsWithSandbox } from "./read.ts";
import type { SessionRow } from "./row.ts";
import { wireOf } from "./wire.ts";

/** Changes that another server makes are seen this late at most; those of this one are seen at once. */
const LOOK_MS = 1_000;
/** Keeps proxies from taking the stream for dead. */
const HEARTBEAT_MS = 15_000;
/** Lines of the log that a stream begins with when it goes on from nowhere, and that are read at a time. */
const LINES_AT_ONCE = 500;
/** What is read of a sandbox's own log each time, in bytes: more than that is a flood, of which the end is shown. */
const TAIL_BYTES = 64 * 1024;

/**
 * What happens to a session, as server-sent events (contract: `SessionEvent`): first the session as it is, then the end
 * of its log, or what of it came after `lastEventId`; then every change and every line, until the session is deleted. The
 * lines of a sandbox that lives have no place of their own in the log: a stream that goes on does not repeat them.
 * @throws not_found, validation_failed
 */
export async function streamEvents(
  deps: Deps,
  project: ProjectRow,
  name: string,
  lastEventId: string | null,
): Promise<ReadableStream<Uint8Array>> {
  const { session } = await findSession(deps, project, name);
  const { sessionId } = session;
  const names = await namesOf(deps.db, [session.createdBy]);
  return streamOf(async (onBytes, signal) => {
    let seq = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
    let shown = "";
    let quietSince = Date.now();
    const tail = createTail(seq !== null);
    const prompts = createPromptTeller(deps, sessionId, session.promptCount);
    const send = async (event: SessionEvent) => {
      quietSince = Date.now();
      await onBytes(Buffer.from(`id: ${seq ?? 0}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    };
    while (!signal.aborted) {
      // asked for before looking, so that no change falls between
      const changed = deps.changes.wait(sessionId, LOOK_MS, signal);
      const row = await look(deps, sessionId);
      const event: SessionEvent | null = row && {
        type: "session",
        session: wireOf(deps, names, row.session, row.sandbox),
      };
      const isFirst = shown === "";
      if (event && isFirst) await send(event);
      const lines = await read(deps, sessionId, seq);
      seq ??= 0;
      for (const { seq: at, line } of lines) {
        seq = at;
        await send({ type: "log", line });
      }
      for (const line of tail(row ? await saidBy(deps, row.session) : [])) await send({ type: "log", line });
      if (!event) return await send({ type: "deleted", session_id: sessionId });
      // what the log says of a change comes before it
      const text = JSON.stringify(event);
      if (text !== shown && !isFirst) await send(event);
      shown = text;
      for (const prompt of await prompts()) await send({ type: "prompt", prompt });
      if (Date.now() - quietSince > HEARTBEAT_MS) {
        quietSince = Date.now();
        await onBytes(Buffer.from(":\n\n"));
      }
      if (lines.length < LINES_AT_ONCE) await changed;
    }
  });
}

async function look(deps: Deps, sessionId: string) {
  const [row] = await sessionsWithSandbox(deps).where(eq(projectSessions.sessionId, sessionId));
  return row ?? null;
}

async function read(deps: Deps, sessionId: string, seq: number | null): Promise<NumberedLine[]> {
  if (seq === null) return await readLog(deps, sessionId, LINES_AT_ONCE);
  return await readLogAfter(deps, sessionId, seq, LINES_AT_ONCE);
}

async function saidBy(deps: Deps, session: SessionRow): Promise<LogLine[]> {
  return isAlive(session) ? await readOutput(deps, session, TAIL_BYTES) : [];
}

/**
 * Tells of a sandbox's last lines, read again and again, those that are new.
 * @param skipFirst whether what is there at first was told before
 */
export function createTail(skipFirst: boolean): (lines: readonly LogLine[]) => LogLine[] {
  let known: string[] = [];
  let skip = skipFirst;
  return (lines) => {
    const texts = lines.map(({ text }) => text);
    const isFirst = skip && texts.length > 0;
    if (isFirst) skip = false;
    const overlap = isFirst ? texts.length : overlapOf(known, texts);
    if (texts.length > 0) known = texts;
    return lines.slice(overlap);
  };
}

/** How many lines at the beginning of `next` are the last ones of `known`: the most that can be. */
function overlapOf(known: readonly string[], next: readonly string[]): number {
  for (let length = Math.min(known.length, next.length); length > 0; length--) {
    const begin = known.length - length;
    if (next[0] !== known[begin]) continue;
    if (next.slice(0, length).every((text, index) => text === known[begin + index])) return length;
  }
  return 0;
}
