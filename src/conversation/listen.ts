import { parseJson, textField } from "../contract/json.ts";
import { readEvents } from "../contract/sse.ts";
import { type RuntimeEvent, readRuntimeEvent } from "./events.ts";
import type { Snapshot } from "./happening.ts";
import { type Patience, rest } from "./patience.ts";
import { codeOf } from "./reach.ts";
import { passes, type Runtime } from "./runtime.ts";

/** What a listener hears. First, and after each loss, how things stand. */
export type Heard =
  | { type: "snapshot"; snapshot: Snapshot }
  | { type: "event"; id: string; event: RuntimeEvent }
  | { type: "lost"; reason: string };

/** The runtime sends something every 10 seconds; a sandbox starts it again in half of `lostMs`. */
const PATIENCE: Patience = { silentSeconds: 25, firstPauseMs: 200, lastPauseMs: 3000, lostMs: 120_000 };

/**
 * What the runtime tells of a conversation, until `signal` is aborted. The stream says nothing again, so after each cut
 * the runtime is asked for all of it; the stream is open before, so that nothing falls between them.
 * @throws for what does not pass by itself, and the last failure after two minutes without a connection.
 */
export async function* listen(
  runtime: Runtime,
  conversation: string,
  signal: AbortSignal,
  patience = PATIENCE,
): AsyncGenerator<Heard> {
  let lostSince: number | null = null;
  let pause = patience.firstPauseMs;
  while (!signal.aborted) {
    let reason = "The connection has ended.";
    try {
      const chunks = await runtime.events(signal, patience.silentSeconds);
      for await (const { data } of readEvents(chunks, runtime.unexpected)) {
        const value = parseJson(data);
        if (textField(value, "type") === "server.connected") {
          yield { type: "snapshot", snapshot: await runtime.snapshot(conversation) };
          lostSince = null;
          pause = patience.firstPauseMs;
        }
        const event = readRuntimeEvent(value);
        if (event && lostSince === null) yield { type: "event", id: textField(value, "id"), event };
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!passes(error)) throw error;
      if (codeOf(error) === "not_running") await stillThere(runtime);
      if (lostSince !== null && performance.now() - lostSince > patience.lostMs) throw error;
      if (error instanceof Error) reason = error.message;
    }
    if (signal.aborted) return;
    lostSince ??= performance.now();
    yield { type: "lost", reason };
    await rest(pause * (0.5 + Math.random()), signal);
    pause = Math.min(pause * 2, patience.lastPauseMs);
  }
}

/** @throws when the session is over; that it cannot be asked says nothing */
async function stillThere(runtime: Runtime): Promise<void> {
  try {
    await runtime.checkAlive();
  } catch (error) {
    if (!passes(error)) throw error;
  }
}
