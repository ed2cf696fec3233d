import { eq } from "drizzle-orm";
import { projectSessions, sessionSandboxes } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { SessionEvent } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { streamOf } from "../http/stream.ts";
import { readLog, readLogAfter } from "./log.ts";
import { findSession } from "./read.ts";
import { toWire } from "./wire.ts";

/** Changes that another server makes are seen this late at most; those of this one are seen at once. */
const LOOK_MS = 1_000;
/** Keeps proxies from taking the stream for dead. */
const HEARTBEAT_MS = 15_000;
/** Lines of the log that a stream begins with when it goes on from nowhere, and that are read at a time. */
const LINES_AT_ONCE = 500;

/**
 * What happens to a session, as server-sent events (contract: `SessionEvent`): first the session as it is and the end of
 * its log, or what of it came after `lastEventId`; then every change, until the session is deleted.
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
  return streamOf(async (onBytes, signal) => {
    let seq = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
    let shown = "";
    let quietSince = Date.now();
    const send = async (text: string) => {
      quietSince = Date.now();
      return await onBytes(Buffer.from(text));
    };
    while (!signal.aborted) {
      // asked for before looking, so that no change falls between
      const changed = deps.changes.wait(sessionId, LOOK_MS, signal);
      const [row] = await deps.db
        .select({ session: projectSessions, sandbox: sessionSandboxes })
        .from(projectSessions)
        .leftJoin(sessionSandboxes, eq(sessionSandboxes.sessionId, projectSessions.sessionId))
        .where(eq(projectSessions.sessionId, sessionId));
      const lines =
        seq === null
          ? await readLog(deps, sessionId, LINES_AT_ONCE)
          : await readLogAfter(deps, sessionId, seq, LINES_AT_ONCE);
      seq ??= 0;
      for (const { seq: at, line } of lines) {
        seq = at;
        await send(write({ type: "log", line }, seq));
      }
      if (!row) {
        await send(write({ type: "deleted", session_id: sessionId }, seq));
        return;
      }
      const event: SessionEvent = { type: "session", session: toWire(deps, row.session, row.sandbox) };
      const text = JSON.stringify(event);
      if (text !== shown) await send(write(event, seq));
      shown = text;
      if (Date.now() - quietSince > HEARTBEAT_MS) await send(":\n\n");
      if (lines.length < LINES_AT_ONCE) await changed;
    }
  });
}

function write(event: SessionEvent, seq: number): string {
  return `id: ${seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
