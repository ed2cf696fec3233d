import { SvcError } from "../../contract/errors.ts";
import type { ProjectEvent, StreamEvent } from "../../contract/event.ts";
import type { Deps } from "../../deps.ts";
import type { Subscriber } from "../../events/feed.ts";
import { createPushStream } from "../../http/push-stream.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** Keeps proxies from taking the stream for dead. */
const HEARTBEAT_MS = 15_000;
/** A token that was revoked, or a membership that has ended, is found out after this long. */
const CHECK_MS = 30_000;
/** Bytes that wait for a reader: more than a thousand events. Who is further behind goes on later, by `Last-Event-ID`. */
const WAITING_MAX = 256 * 1024;
/** Events that a reader who goes on has to take before it is told more. */
const DRAIN_MS = 30_000;

/**
 * The changes of a project, as server-sent events (contract: `ProjectEvent`): first `ready`, and all that came after
 * `lastEventId` or in the last `recent` seconds, where one of them is given; then every change, until the caller may not
 * read the project any more.
 * @param again finds out whether the caller still may @throws SvcError when not
 */
export function streamProjectEvents(
  { events, log }: Pick<Deps, "events" | "log">,
  { projectId }: Pick<ProjectRow, "projectId">,
  { lastEventId, recent }: { lastEventId?: string | undefined; recent?: number | undefined },
  again: () => Promise<unknown>,
  { heartbeatMs = HEARTBEAT_MS, checkMs = CHECK_MS } = {},
): ReadableStream<Uint8Array> {
  const stream = createPushStream(WAITING_MAX);
  const send = (event: StreamEvent | ProjectEvent, id: number | null) =>
    stream.send(
      `${id === null ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
    );
  const subscriber: Subscriber = {
    gone: stream.gone,
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
  stream.gone.addEventListener("abort", () => {
    clearInterval(heartbeats);
    clearInterval(checks);
  });
  const after = readId(lastEventId);
  const from = after !== null ? { after } : recent !== undefined ? { recent } : {};
  events.subscribe(projectId, from, subscriber).catch((error: unknown) => {
    log.warn({ project: projectId, err: error }, "a stream of events could not begin");
    stream.end();
  });
  return stream.body;

  async function check(): Promise<void> {
    try {
      await again();
    } catch (error) {
      // without the database nobody is told anything, and the stream goes on when it is back
      if (error instanceof SvcError) stream.end();
    }
  }
}

function readId(lastEventId: string | undefined): number | null {
  return /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : null;
}
