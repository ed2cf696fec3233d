/**
 * The least milliseconds between two pieces of a stream, a frame of a screen. Events of a faster stream go together: each one
 * that passes alone costs svc, its client and the kernel a write, a read and a wake-up.
 */
const PACE_MS = 16;

/** The end of the current interval, which all streams share; null while nothing waits for it. */
let interval: Promise<void> | null = null;

/** @returns a function that waits between two pieces of a stream, unless the last one was passed on long enough ago */
export function createPace(): () => Promise<void> | null {
  let passedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    const isFast = now - passedAt < PACE_MS;
    passedAt = now;
    if (!isFast) return null;
    interval ??= new Promise((resolve) => {
      setTimeout(() => {
        interval = null;
        resolve();
      }, PACE_MS);
    });
    return interval;
  };
}
