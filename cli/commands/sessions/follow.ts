import { parseJson } from "../../../src/contract/json.ts";
import type { SessionEvent } from "../../../src/contract/session.ts";
import { readEvents } from "../../../src/contract/sse.ts";
import type { Api } from "../../api.ts";
import { unexpected } from "../../api-failure.ts";
import { isRecord } from "../../config.ts";
import { CliError } from "../../failure.ts";

/** What is heard of a session, and that nothing is heard for the moment. */
export type Heard =
  | Exclude<SessionEvent, { type: "deleted" | "prompt" }>
  | { type: "deleted" }
  | { type: "lost"; reason: string };

/** What the tests shorten. */
export interface Patience {
  /** Silence after which a connection counts as dead. */
  silentSeconds: number;
  /** The first pause before a new connection; it doubles up to the last one. */
  firstPauseMs: number;
  lastPauseMs: number;
  /** Time without any connection after which it is given up. */
  lostMs: number;
}

/** The server sends something every 15 seconds. */
const PATIENCE: Patience = { silentSeconds: 40, firstPauseMs: 250, lastPauseMs: 5000, lostMs: 120_000 };

/**
 * What happens to a session from now on, first the session as it is. A connection that is cut or falls silent is made
 * anew, and goes on after the last event. Ends with `deleted`, or when `signal` is aborted.
 * @param path of the session, below the host's `/v1`.
 * @throws CliError `not_found` when there is no such session to begin with, what the server refuses for good, and the
 *   last failure once there was no connection for two minutes.
 */
export async function* follow(
  api: Api,
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
      const opened = await api.open({
        path: `${path}/events`,
        accept: "text/event-stream",
        headers: cursor === "" ? {} : { "Last-Event-ID": cursor },
        seconds: patience.silentSeconds,
        signal,
      });
      lostSince = undefined;
      for await (const event of readEvents(opened.stream(), unexpected)) {
        if (event.id !== "") cursor = event.id;
        known = true;
        const heard = readSessionEvent(event.data);
        if (heard) yield heard;
        if (heard?.type === "deleted") return;
      }
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    if (known && failure instanceof CliError && failure.code === "not_found") {
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
function readSessionEvent(data: string): Heard | null {
  const value = parseJson(data);
  if (!isRecord(value)) throw unexpected("an event that is not a JSON object");
  const { type, session, line } = value;
  if (type === "session" && isRecord(session) && typeof session["status"] === "string") {
    return value as Heard;
  }
  if (type === "log" && isRecord(line) && typeof line["text"] === "string") return value as Heard;
  return type === "deleted" ? { type } : null;
}

/** Whether a failure may be over the next time: the network's, a server that starts or drains, one in between. */
export const passes = (failure: unknown): boolean =>
  failure instanceof CliError &&
  (["network", "timeout", "unavailable", "rate_limited", "internal"].includes(failure.code) ||
    failure.code.startsWith("http_5"));

/** A pause, which `signal` ends early. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
