/** The reason of a call that is late although its engine answers. */
export const STUCK = "stuck";

/**
 * Decides when a call is late: after `ms` without movement, or after `longestMs`.
 * @param ping whether the other side answers, which counts as movement; null: only `moved` does
 * @returns a signal that is aborted then, with the reason `STUCK` unless the other side has stopped to answer
 */
export function createLateness(
  { ms, longestMs }: { ms: number; longestMs: number },
  ping: (() => Promise<unknown>) | null,
  now: () => number = () => performance.now(),
): { signal: AbortSignal; moved(): void; end(): void } {
  const late = new AbortController();
  const beganAt = now();
  let movedAt = beganAt;
  let isOver = false;
  let timer = setTimeout(() => void look(), ms);
  return {
    signal: late.signal,
    moved() {
      movedAt = now();
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };

  async function look(): Promise<void> {
    if (now() - beganAt >= longestMs) return late.abort(STUCK);
    if (now() - movedAt >= ms) {
      if (ping === null) return late.abort(STUCK);
      const answers = await ping().then(
        () => true,
        () => false,
      );
      if (isOver) return;
      if (!answers) return late.abort();
      movedAt = now();
    }
    timer = setTimeout(() => void look(), Math.min(movedAt + ms, beganAt + longestMs) - now());
  }
}
