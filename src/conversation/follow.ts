import { field, parseJson, textField } from "../contract/json.ts";
import type { SessionEvent } from "../contract/session.ts";
import { readEvents } from "../contract/sse.ts";
import { type ReconnectPolicy, sleep } from "./reconnect.ts";
import { codeOf, isTransient, type Transport } from "./transport.ts";

/** A change of a session, or that the connection is lost for now. */
export type FollowEvent =
  | Exclude<SessionEvent, { type: "deleted" }>
  | { type: "deleted" }
  | { type: "lost"; reason: string };

/** The server sends something every 15 seconds. */
const POLICY: ReconnectPolicy = { silentSeconds: 40, firstDelayMs: 250, maxDelayMs: 5000, giveUpMs: 120_000 };

/**
 * Streams the changes of a session, starting with its current state. Reconnects after a lost or silent connection and
 * resumes after the last event. Ends with `deleted`, or when `signal` is aborted.
 * @param path the session's, below the host's `/v1`.
 * @throws what `transport` throws: `not_found` if the session does not exist at the start, a permanent refusal by the
 *   server, and the last failure after two minutes without a connection.
 */
export async function* follow(
  transport: Transport,
  path: string,
  signal: AbortSignal,
  policy = POLICY,
): AsyncGenerator<FollowEvent> {
  let cursor = "";
  let known = false;
  let lostSince: number | undefined;
  let delay = policy.firstDelayMs;
  while (!signal.aborted) {
    const startedAt = performance.now();
    let failure: unknown;
    try {
      const chunks = await transport.stream(`${path}/events`, {
        headers: cursor === "" ? {} : { "Last-Event-ID": cursor },
        silentSeconds: policy.silentSeconds,
        signal,
      });
      lostSince = undefined;
      for await (const { id, data } of readEvents(chunks, transport.unexpected)) {
        if (id !== "") cursor = id;
        known = true;
        const event = readSessionEvent(data, transport);
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

/** Parses an event; null for an unknown type, which a newer server may send. */
function readSessionEvent(data: string, transport: Transport): FollowEvent | null {
  const value = parseJson(data);
  if (typeof value !== "object" || value === null) {
    throw transport.unexpected("an event that is not a JSON object");
  }
  const isValid =
    textField(field(value, "session"), "status") !== "" ||
    typeof field(field(value, "line"), "text") === "string" ||
    textField(field(value, "prompt"), "state") !== "";
  const type = textField(value, "type");
  if (["session", "log", "prompt"].includes(type) && isValid) return value as FollowEvent;
  return type === "deleted" ? { type } : null;
}
