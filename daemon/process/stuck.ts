import { setTimeout } from "node:timers/promises";
import { timeOfTree } from "./tree.ts";

/** How long a start may take, in milliseconds: without any work, and at all. */
export interface StartLimits {
  stillMs: number;
  longestMs: number;
}

/** The parts of the system that a watch looks at. Times in milliseconds. */
interface Clock {
  now(): number;
  /** Processor time of a process and its descendants. */
  workOf(root: number): Promise<number>;
  /** Returns early when the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const REAL: Clock = {
  now: () => performance.now(),
  workOf: timeOfTree,
  pause: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {}),
};

/** Less processor time than this between two looks is that of programs that wait. */
const WORK_MS = 50;
const LOOK_MS = 5_000;

/**
 * Waits until a start is stuck: on a slow machine it is late, but its processes work meanwhile. Where processor times are
 * not known, it is stuck after `stillMs`.
 * @param root the process that starts
 * @param signal ends the wait
 * @returns what has happened, as the end of a sentence; null: the wait was ended
 */
export async function untilStuck(
  root: number,
  { stillMs, longestMs }: StartLimits,
  signal: AbortSignal,
  clock = REAL,
): Promise<string | null> {
  const began = clock.now();
  let moved = began;
  let worked = await clock.workOf(root);
  while (!signal.aborted) {
    const now = clock.now();
    if (now - began >= longestMs) return `it took longer than ${longestMs / 1000} seconds`;
    if (now - moved >= stillMs) return `it has shown no activity for ${stillMs / 1000} seconds`;
    await clock.pause(Math.min(LOOK_MS, stillMs / 4), signal);
    const work = await clock.workOf(root);
    // it is less when processes have ended
    if (work >= worked && work < worked + WORK_MS) continue;
    worked = work;
    moved = clock.now();
  }
  return null;
}
