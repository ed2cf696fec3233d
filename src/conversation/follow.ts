import { field, parseJson, textField } from "../contract/json.ts";
import type { SessionEvent } from "../contract/session.ts";
import { readEvents } from "../contract/sse.ts";
import { type Patience, rest } from "./patience.ts";
import { codeOf, passes, type Reach } from "./reach.ts";

/** What is heard of a session, and that nothing is heard for the moment. */
export type Heard =
  | Exclude<SessionEvent, { type: "deleted" }>
  | { type: "deleted" }
  | { type: "lost"; reason: string };

/** The server sends something every 15 seconds. */
const PATIENCE: Patience = { silentSeconds: 40, firstPauseMs: 250, lastPauseMs: 5000, lostMs: 120_000 };

/**
 * What happens to a session from now on, first the session as it is. A connection that is cut or falls silent is made
 * anew, and goes on after the last event. Ends with `deleted`, or when `signal` is aborted.
 * @param path of the session, below the host's `/v1`.
 * @throws what `reach` throws: `not_found` when there is no such session to begin with, what the server refuses for good, and the
 *   last failure once there was no connection for two minutes.
 */
export async function* follow(
  reach: Reach,
  path: string,
  signal: AbortSignal,
  patience = PATIENCE,
): AsyncGenerator<Heard> {
  let cursor = "";
  let known = false;
  let lostSince: number | undefined;
  let pause = patience.firstPauseMs;
  while (!signal.aborted) {
    const begun = performance.now();
    let failure: unknown;
    try {
      const chunks = await reach.stream(`${path}/events`, {
        headers: cursor === "" ? {} : { "Last-Event-ID": cursor },
        silentSeconds: patience.silentSeconds,
        signal,
      });
      lostSince = undefined;
      for await (const event of readEvents(chunks, reach.unexpected)) {
        if (event.id !== "") cursor = event.id;
        known = true;
        const heard = readSessionEvent(event.data, reach);
        if (heard) yield heard;
        if (heard?.type === "deleted") return;
      }
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    if (known && codeOf(failure) === "not_found") {
      yield { type: "deleted" };
      return;
    }
    if (failure !== undefined && !passes(failure)) throw failure;
    const now = performance.now();
    lostSince ??= now;
    if (now - lostSince > patience.lostMs) throw failure;
    if (now - begun > patience.lastPauseMs) pause = patience.firstPauseMs;
    yield { type: "lost", reason: failure instanceof Error ? failure.message : "The connection has ended." };
    await rest(pause * (0.5 + Math.random()), signal);
    pause = Math.min(pause * 2, patience.lastPauseMs);
  }
}

/** An event that is not known here comes from a newer server, and is passed over. */
function readSessionEvent(data: string, reach: Reach): Heard | null {
  const value = parseJson(data);
  if (typeof value !== "object" || value === null) {
    throw reach.unexpected("an event that is not a JSON object");
  }
  const isTold =
    textField(field(value, "session"), "status") !== "" ||
    typeof field(field(value, "line"), "text") === "string" ||
    textField(field(value, "prompt"), "state") !== "";
  const type = textField(value, "type");
  if (["session", "log", "prompt"].includes(type) && isTold) return value as Heard;
  return type === "deleted" ? { type } : null;
}
