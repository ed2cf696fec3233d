import type { Logger } from "pino";
import type { Changes } from "../lib/changes.ts";

interface Work {
  /** Names the rounds in the log. */
  subject: string;
  /** The names in `changes` that begin the next round at once. */
  wakers: readonly string[];
  /** @returns milliseconds until the next round is due */
  round: (signal: AbortSignal) => Promise<number>;
  /** Removes what is old, after a round, every `trimMs`. */
  trim: () => Promise<void>;
  trimMs: number;
  /** The wait after an error. */
  backoffMs: number;
  /** The shortest pause after a notification, so that a burst is one round. */
  pauseMs?: number;
}

/** The longest time between two rounds: the delay if a notification is lost. */
export const ROUND_MS = 30_000;

/**
 * Runs rounds of work whose next time is known, together with all other servers of the database: `runPeriodically` is for
 * work that has to look. An error is logged, and the work runs again soon.
 * @returns stops them, and waits for the round in progress
 */
export function runRounds(
  { changes, log }: { changes: Changes; log: Logger },
  { subject, wakers, round, trim, trimMs, backoffMs, pauseMs = 0 }: Work,
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };

  async function loop(): Promise<void> {
    let trimAt = performance.now() + trimMs;
    while (!signal.aborted) {
      // subscribes before the round, so that nothing is missed
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      const woken = changes.wait(wakers, ROUND_MS, until);
      let wait = backoffMs;
      try {
        const next = await round(signal);
        if (performance.now() > trimAt) {
          await trim();
          trimAt = performance.now() + trimMs;
        }
        wait = Math.min(next, ROUND_MS);
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, `a round of the ${subject} failed`);
      }
      await Promise.race([woken, changes.wait([], wait, until)]);
      over.abort();
      if (pauseMs > 0 && !signal.aborted) await Bun.sleep(pauseMs);
    }
  }
}
