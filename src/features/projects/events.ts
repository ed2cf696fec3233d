import { SvcError } from "../../contract/errors.ts";
import type { ProjectEvent, StreamEvent } from "../../contract/event.ts";
import type { Deps } from "../../deps.ts";
import type { Subscriber } from "../../events/feed.ts";
import { createPushStream } from "../../http/push-stream.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** Keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;
/** A revoked token and a removed membership end the stream within this time. */
const CHECK_MS = 4_000;
/** The backlog of a reader in bytes, more than 1,000 events. A slower reader is cut off; it resumes by `Last-Event-ID`. */
const BACKLOG_MAX_BYTES = 256 * 1024;
/** How long a resumed reader may take to read each batch of stored events. */
const DRAIN_MS = 30_000;

/**
 * The changes of a project, as server-sent events (contract: `ProjectEvent`): first `ready`, and the events after
 * `lastEventId` or of the last `recent` seconds, if either is given; then every change, until the caller loses access to
 * the project.
 * @param again checks the access again; throws SvcError when it is lost
 */
export function streamProjectEvents(
  { events, log }: Pick<Deps, "events" | "log">,
  { projectId }: Pick<ProjectRow, "projectId">,
  { lastEventId, recent }: { lastEventId?: string | undefined; recent?: number | undefined },
  again: () => Promise<unknown>,
  { heartbeatMs = HEARTBEAT_MS, checkMs = CHECK_MS } = {},
): ReadableStream<Uint8Array> {
  const stream = createPushStream(BACKLOG_MAX_BYTES);
  const send = (event: StreamEvent | ProjectEvent, id: number | null) =>
    stream.send(
      `${id === null ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
    );
  const subscriber: Subscriber = {
    closed: stream.closed,
    position: (type, at, seq) => send({ type, seq }, at),
    send: ({ seq, event }) => send(event, seq),
    async drained() {
      const isLate = Bun.sleep(DRAIN_MS).then(() => true);
      if (await Promise.race([stream.drained().then(() => false), isLate])) stream.end();
    },
    end(why) {
      const at = new Date().toISOString();
      if (why === "deleted") send({ type: "project", id: projectId, action: "deleted", at }, null);
      stream.end();
    },
  };
  const heartbeats = setInterval(() => stream.send(":\n\n"), heartbeatMs);
  const checks = setInterval(() => void check(), checkMs);
  stream.closed.addEventListener("abort", () => {
    clearInterval(heartbeats);
    clearInterval(checks);
  });
  const after = readId(lastEventId);
  const from = after !== null ? { after } : recent !== undefined ? { recent } : {};
  events.subscribe(projectId, from, subscriber).catch((error: unknown) => {
    log.warn({ project: projectId, err: error }, "cannot start an event stream");
    stream.end();
  });
  return stream.body;

  async function check(): Promise<void> {
    try {
      await again();
    } catch (error) {
      // the stream continues through other errors, such as a database outage
      if (error instanceof SvcError) stream.end();
    }
  }
}

function readId(lastEventId: string | undefined): number | null {
  return /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
}
