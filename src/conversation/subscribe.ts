import { parseJson, textField } from "../contract/json.ts";
import { readEvents } from "../contract/sse.ts";
import type { Snapshot } from "./conversation-event.ts";
import { type ReconnectPolicy, sleep } from "./reconnect.ts";
import { isTransient, type Runtime } from "./runtime.ts";
import { type RuntimeEvent, readRuntimeEvent } from "./runtime-event.ts";
import { codeOf } from "./transport.ts";

/** A snapshot comes first, and again after each lost connection. */
export type RuntimeUpdate =
  | { type: "snapshot"; snapshot: Snapshot }
  | { type: "event"; id: string; event: RuntimeEvent }
  | { type: "lost"; reason: string };

/** The runtime sends something every 10 seconds; a sandbox restarts it within half of `giveUpMs`. */
const POLICY: ReconnectPolicy = { silentSeconds: 25, firstDelayMs: 200, maxDelayMs: 3000, giveUpMs: 120_000 };

/**
 * Streams the events of a conversation until `signal` is aborted. The runtime does not replay events, so each connection
 * starts with a snapshot, which is requested after the stream is open so that no event is missed.
 * @throws permanent failures, and the last failure after two minutes without a connection.
 */
export async function* subscribe(
  runtime: Runtime,
  conversation: string,
  signal: AbortSignal,
  policy = POLICY,
): AsyncGenerator<RuntimeUpdate> {
  let lostSince: number | null = null;
  let delay = policy.firstDelayMs;
  while (!signal.aborted) {
    let reason = "The connection was closed.";
    try {
      const chunks = await runtime.events(signal, policy.silentSeconds);
      for await (const { data } of readEvents(chunks, runtime.unexpected)) {
        const value = parseJson(data);
        if (textField(value, "type") === "server.connected") {
          yield { type: "snapshot", snapshot: await runtime.snapshot(conversation) };
          lostSince = null;
          delay = policy.firstDelayMs;
        }
        const event = readRuntimeEvent(value);
        if (event && lostSince === null) yield { type: "event", id: textField(value, "id"), event };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      if (codeOf(error) === "not_running") await requireAlive(runtime);
      if (lostSince !== null && performance.now() - lostSince > policy.giveUpMs) throw error;
      if (error instanceof Error) reason = error.message;
    }
    if (signal.aborted) return;
    lostSince ??= performance.now();
    yield { type: "lost", reason };
    await sleep(delay * (0.5 + Math.random()), signal);
    delay = Math.min(delay * 2, policy.maxDelayMs);
  }
}

/** @throws if the session has ended. A failed request does not mean that. */
async function requireAlive(runtime: Runtime): Promise<void> {
  try {
    await runtime.checkAlive();
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}
