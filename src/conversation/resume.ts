import { readEvents } from "../contract/sse.ts";
import { type ReconnectPolicy, sleep } from "./reconnect.ts";
import { codeOf, isTransient, type Transport } from "./transport.ts";

/** The state of the connection, between the events. */
export type Connection = { type: "connected" } | { type: "lost"; reason: string } | { type: "deleted" };

/** One stream of events. */
export interface Source<T> {
  /**
   * Opens it.
   * @param cursor the id of the last event; empty before the first one
   * @returns the bytes, and the cursor from which they go on
   */
  open(cursor: string): Promise<{ chunks: AsyncIterable<Uint8Array>; cursor: string }>;
  /** Parses an event; null for an unknown type, which a newer server may send. */
  read(data: string, id: string): T | null;
}

/** The headers that continue a stream after an event, and how long it may be silent. */
export const after = (cursor: string, { silentSeconds }: ReconnectPolicy, signal: AbortSignal) => ({
  headers: cursor === "" ? {} : { "Last-Event-ID": cursor },
  silentSeconds,
  signal,
});

/**
 * Streams events. Reconnects after a lost or silent connection and resumes after the last event. Ends with `deleted`, or
 * when `signal` is aborted.
 * @param cursor the id of the last event of an earlier stream
 * @throws what `transport` throws: `not_found` if there is nothing at the start, a permanent refusal by the server, and the
 *   last failure once there was no connection for as long as `policy` allows
 */
export async function* resume<T extends { type: string }>(
  { unexpected }: Pick<Transport, "unexpected">,
  source: Source<T>,
  signal: AbortSignal,
  policy: ReconnectPolicy,
  cursor = "",
): AsyncGenerator<T | Connection> {
  let known = false;
  let lostSince: number | undefined;
  let delay = policy.firstDelayMs;
  while (!signal.aborted) {
    const startedAt = performance.now();
    let failure: unknown;
    try {
      const opened = await source.open(cursor);
      cursor = opened.cursor;
      lostSince = undefined;
      known = true;
      yield { type: "connected" };
      for await (const { id, data } of readEvents(opened.chunks, unexpected)) {
        if (id !== "") cursor = id;
        const event = source.read(data, id);
        if (event) yield event;
        if (event?.type === "deleted") return;
      }
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    if (known && codeOf(failure) === "not_found") {
      yield { type: "deleted" };
      return;
    }
    if (failure !== undefined && !isTransient(failure)) throw failure;
    const now = performance.now();
    lostSince ??= now;
    if (now - lostSince > policy.giveUpMs) throw failure;
    if (now - startedAt > policy.maxDelayMs) delay = policy.firstDelayMs;
    yield { type: "lost", reason: failure instanceof Error ? failure.message : "The connection was closed." };
    await sleep(delay * (0.5 + Math.random()), signal);
    delay = Math.min(delay * 2, policy.maxDelayMs);
  }
}
