import { setTimeout as sleep } from "node:timers/promises";
import { SvcError } from "../../contract/errors.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import type { RunLog } from "./log.ts";

/** Before each further attempt, in seconds; the last one repeats. */
const DELAYS_S = [1, 2, 4, 8, 15, 30];
/** Restarts of a git host, of an engine or of a network are over by then. */
const LONGEST_MS = 15 * 60_000;

/** What a start waits for between two attempts. */
export type Away = "repository" | "engine";

/** How a start waits between two attempts. Tests replace the time. */
export interface Patience {
  log: Pick<RunLog, "write">;
  signal: AbortSignal;
  /** Called before each pause. @param message as a sentence */
  onAway?(away: Away, message: string): Promise<void>;
  /** Milliseconds. */
  now?(): number;
  pause?(ms: number, signal: AbortSignal): Promise<unknown>;
}

/**
 * Repeats a step of a start whose error says that another attempt may succeed: a busy git host, a busy machine, or an engine
 * that restarts is no reason to fail. The log says so. It gives up after a quarter of an hour.
 * @throws the error of the last attempt; the signal's reason
 */
export async function withRetries<Result>(
  { log, signal, onAway, now = () => performance.now(), pause = pauseFor }: Patience,
  step: () => Promise<Result>,
): Promise<Result> {
  let firstAt: number | null = null;
  for (let attempt = 0; ; attempt++) {
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      const away = awayIn(error);
      firstAt ??= now();
      if (away === null || now() - firstAt >= LONGEST_MS) throw error;
      const delay = DELAYS_S[Math.min(attempt, DELAYS_S.length - 1)] ?? 0;
      log.write("svc", `${away.message} Retrying in ${delay} s.`);
      await onAway?.(away.what, away.message);
      await pause(delay * 1000, signal);
    }
  }
}

function pauseFor(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal });
}

/** Null: another attempt would fail, too. An error of the API says so by `Retry-After`. */
function awayIn(error: unknown): { what: Away; message: string } | null {
  if (error instanceof SandboxError && error.away) return { what: "engine", message: error.message };
  if (error instanceof SvcError && error.headers["Retry-After"] !== undefined)
    return { what: "repository", message: error.message };
  return null;
}
