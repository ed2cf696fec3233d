import { eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import type { LogLine, SessionEvent } from "../../contract/session.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { streamOf } from "../../http/stream.ts";
import { namesOf } from "../../identity/auth/actor.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readLog, readLogAfter } from "../runs/log.ts";
import { readOutput } from "../runs/output.ts";
import { createPortsPoller } from "./ports/changes.ts";
import { createPromptPoller } from "./prompts/changes.ts";
import { findSession, sessionsWithSandbox } from "./read.ts";
import { wireOf } from "./wire.ts";

/** Changes by another server are noticed within this time; those by this one at once. */
const POLL_MS = 1_000;
/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** Lines that are read from the log at a time, and that a new stream begins with. */
const LINES_AT_ONCE = 500;
/** Bytes read from the end of a sandbox's output at each poll; the rest is skipped. */
const TAIL_BYTES = 64 * 1024;

/**
 * A session's changes as server-sent events (contract: `SessionEvent`): first the session as it is, then the end of its
 * log, or the lines after `lastEventId`; then every change, every line, and the ports when they change, until the session is deleted. The output of
 * a live sandbox has no numbers in the log: a resumed stream does not repeat it.
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
    let quietSince = performance.now();
    const tail = createTail(seq !== null);
    const ports = createPortsPoller(deps);
    const prompts = createPromptPoller(deps, sessionId, session.promptCount);
    const send = async (event: SessionEvent) => {
      quietSince = performance.now();
      await onBytes(Buffer.from(`id: ${seq ?? 0}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    };
    while (!signal.aborted) {
      // subscribe before reading, so that no change is missed
      const changed = deps.changes.wait(sessionId, POLL_MS, signal);
      const [row] = await sessionsWithSandbox(deps).where(eq(projectSessions.sessionId, sessionId));
      const event: SessionEvent | undefined = row && {
        type: "session",
        session: wireOf(deps, names, row),
      };
      const isFirst = shown === "";
      if (event && isFirst) await send(event);
      const lines =
        seq === null
          ? await readLog(deps, sessionId, LINES_AT_ONCE)
          : await readLogAfter(deps, sessionId, seq, LINES_AT_ONCE);
      seq ??= 0;
      for (const { seq: at, line } of lines) {
        seq = at;
        await send({ type: "log", line });
      }
      const isLive = row && isAlive(row.session);
      const output = isLive ? await readOutput(deps, row.session, TAIL_BYTES) : [];
      for (const line of tail(output)) await send({ type: "log", line });
      if (!event) return await send({ type: "deleted", session_id: sessionId });
      // the log lines of a change come before it
      const text = JSON.stringify(event);
      if (text !== shown && !isFirst) await send(event);
      shown = text;
      for (const prompt of await prompts()) await send({ type: "prompt", prompt });
      const listening = ports(row?.session);
      if (listening) await send({ type: "ports", ports: listening });
      if (performance.now() - quietSince > HEARTBEAT_MS) {
        quietSince = performance.now();
        await onBytes(Buffer.from(":\n\n"));
      }
      if (lines.length < LINES_AT_ONCE) await changed;
    }
  });
}

/**
 * Finds the new lines in a sandbox's last lines, which are read repeatedly.
 * @param skipFirst whether the lines of the first read were sent before
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

/** The largest number of lines at the beginning of `next` that are the last ones of `known`. */
function overlapOf(known: readonly string[], next: readonly string[]): number {
  for (let length = Math.min(known.length, next.length); length > 0; length--) {
    const begin = known.length - length;
    if (next[0] !== known[begin]) continue;
    if (next.slice(0, length).every((text, index) => text === known[begin + index])) return length;
  }
  return 0;
}
