import { SvcError } from "../../contract/errors.ts";
import type { ProjectEvent, StreamEvent } from "../../contract/event.ts";
import type { Deps } from "../../deps.ts";
import type { Reader } from "../../events/feed.ts";
import { createOutlet } from "../../http/outlet.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** The interval to check for a revoked token or an ended membership. */
const CHECK_MS = 30_000;
/** Bytes buffered for a reader, more than a thousand events. A slower reader is disconnected and resumes with `Last-Event-ID`. */
const WAITING_MAX = 256 * 1024;
/** How long a reader that resumes has to drain its buffer before it is disconnected. */
const DRAIN_MS = 30_000;

/**
 * Streams the changes of a project as server-sent events (contract: `ProjectEvent`): first `ready`, then the events after
 * `lastEventId` or of the last `recent` seconds, if given, then every change until the caller loses access.
 * @param again checks that the caller still has access @throws SvcError if not
 */
export function streamProjectEvents(
  { events, log }: Pick<Deps, "events" | "log">,
  { projectId }: Pick<ProjectRow, "projectId">,
  { lastEventId, recent }: { lastEventId?: string | undefined; recent?: number | undefined },
  again: () => Promise<unknown>,
  { heartbeatMs = HEARTBEAT_MS, checkMs = CHECK_MS } = {},
): ReadableStream<Uint8Array> {
  const outlet = createOutlet(WAITING_MAX);
  const send = (event: StreamEvent | ProjectEvent, id: number | null) =>
    outlet.send(
      `${id === null ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
    );
  const reader: Reader = {
    gone: outlet.gone,
    stand: (type, at, seq) => send({ type, seq }, at),
    tell: ({ seq, event }) => send(event, seq),
    async room() {
      const isLate = Bun.sleep(DRAIN_MS).then(() => true);
      if (await Promise.race([outlet.drained().then(() => false), isLate])) outlet.end();
    },
    end(why) {
      const at = new Date().toISOString();
      if (why === "deleted") send({ type: "project", id: projectId, action: "deleted", at }, null);
      outlet.end();
    },
  };
  const heartbeats = setInterval(() => outlet.send(":\n\n"), heartbeatMs);
  const checks = setInterval(() => void check(), checkMs);
  outlet.gone.addEventListener("abort", () => {
    clearInterval(heartbeats);
    clearInterval(checks);
  });
  const after = readId(lastEventId);
  const from = after !== null ? { after } : recent !== undefined ? { recent } : {};
  events.follow(projectId, from, reader).catch((error: unknown) => {
    log.warn({ project: projectId, err: error }, "cannot start a stream of events");
    outlet.end();
  });
  return outlet.stream;

  async function check(): Promise<void> {
    try {
      await again();
    } catch (error) {
      // other errors come from the database: the stream continues when it is back
      if (error instanceof SvcError) outlet.end();
    }
  }
}

function readId(lastEventId: string | undefined): number | null {
  return /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
}
