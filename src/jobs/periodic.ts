import type { Logger } from "pino";
import type { Changes } from "../lib/changes.ts";

/** The longest delay that a lost job or notification causes, while there is something to watch. */
const BUSY_MS = 5_000;
/** The interval of rounds that find nothing to watch. A notification begins the shorter one again. */
const IDLE_MS = 30_000;

interface Rounds {
  /** Names the work, in the log and in `changes`: notified, the next round begins at once. */
  subject: string;
  /** The names in `changes` that announce something to watch. */
  wakers: readonly string[];
  /** Run one after the other. Each returns whether it has to be repeated soon. */
  work: readonly (() => Promise<boolean>)[];
}

/**
 * Runs work every few seconds while there is something to watch, and rarely otherwise. An error is logged, and the work
 * runs again soon.
 * @returns stops it, and waits for the run in progress
 */
export function runPeriodically(
  { changes, log }: { changes: Changes; log: Logger },
  { subject, wakers, work }: Rounds,
  { busyMs = BUSY_MS, idleMs = IDLE_MS } = {},
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
      const over = new AbortController();
      const until = AbortSignal.any([signal, over.signal]);
      // subscribes before the round, so that no notification is missed
      const requested = changes.wait(subject, idleMs, until);
      const woken = changes.wait(wakers, idleMs, until);
      const isBusy = await round();
      // wakers may come in bursts: the round that follows is no earlier than the next one of a busy server
      const soon = isBusy ? Promise.resolve() : woken;
      await Promise.race([requested, soon.then(() => changes.wait([], busyMs, until))]);
      over.abort();
    }
  }

  async function round(): Promise<boolean> {
    let isBusy = false;
    for (const part of work) {
      const isPartBusy = await part().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, `periodic work on ${subject} failed`);
        return true;
      });
      isBusy ||= isPartBusy;
    }
    return isBusy;
  }
}
