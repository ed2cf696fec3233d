import type { Logger } from "pino";
import type { Changes } from "../lib/changes.ts";

/** What a lost job or notification has left undone is found after this long at most. */
const ROUND_MS = 5_000;

/**
 * Does some work again and again: every few seconds, and when `changes` says so. An error is logged, and the next round tries
 * again.
 * @param subject what it is about, as the log and `changes` name it
 * @returns ends it, and waits for the round under way
 */
export function keepRounds(
  { changes, log }: { changes: Changes; log: Logger },
  subject: string,
  work: readonly (() => Promise<void>)[],
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const rounds = loop();
  return async () => {
    stopping.abort();
    await rounds;
  };

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      for (const part of work) {
        await part().catch((error: unknown) => {
          if (!signal.aborted) log.warn({ err: error }, `a round of the ${subject} failed`);
        });
      }
      await changes.wait(subject, ROUND_MS, signal);
    }
  }
}
