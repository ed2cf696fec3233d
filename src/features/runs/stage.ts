import type { StageLimit } from "./kind.ts";

/** Less processor time than this is that of a program that waits. */
const WORK_MS = 100;

/**
 * Watches whether a stage of a start goes on: while its sandbox works, it is slow, but not stuck.
 * @param clock milliseconds
 */
export function watchStage({ stillMs, longestMs }: StageLimit, clock = () => performance.now()) {
  const beganAt = clock();
  let movedAt = beganAt;
  let worked: number | null = null;
  let shown: string | null = null;
  return {
    /**
     * @param workedMs processor time so far; undefined in the answers of a daemon that does not tell it
     * @param state what else the daemon reports: a change is movement
     */
    saw(workedMs: number | undefined, state = "") {
      if (shown !== null && state !== shown) movedAt = clock();
      shown = state;
      if (workedMs === undefined) return;
      // it is less when processes have ended
      if (worked !== null && workedMs >= worked && workedMs < worked + WORK_MS) return;
      if (worked !== null) movedAt = clock();
      worked = workedMs;
    },
    /** Why the stage has failed, as the end of a sentence; null: it goes on. */
    late(): string | null {
      const now = clock();
      if (now - beganAt > longestMs) return ` within ${durationOf(longestMs)}.`;
      if (now - movedAt > stillMs) return `: the sandbox has shown no activity for ${durationOf(stillMs)}.`;
      return null;
    },
  };
}

function durationOf(ms: number): string {
  return ms < 120_000 ? `${ms / 1000} seconds` : `${ms / 60_000} minutes`;
}
