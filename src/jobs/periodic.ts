import type { Logger } from "pino";
import type { Changes } from "../lib/changes.ts";

/** The longest delay that a lost job or notification causes. */
const INTERVAL_MS = 5_000;

/**
 * Runs work periodically, and whenever `changes` is notified. An error is logged, and the work runs again next time.
 * @param subject names the work, in the log and in `changes`
 * @returns stops it, and waits for the run in progress
 */
export function runPeriodically(
  { changes, log }: { changes: Changes; log: Logger },
  subject: string,
  work: readonly (() => Promise<void>)[],
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ended = loop();
  return async () => {
    stopping.abort();
    await ended;
  };

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      for (const part of work) {
        await part().catch((error: unknown) => {
          if (!signal.aborted) log.warn({ err: error }, `periodic work on ${subject} failed`);
        });
      }
      await changes.wait(subject, INTERVAL_MS, signal);
    }
  }
}
