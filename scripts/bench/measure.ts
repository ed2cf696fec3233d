/** One round of a comparison: both sides do the same work, once each. */
export interface Round {
  ours(): Promise<void>;
  peer(): Promise<void>;
}

/** Rounds that are run first and not counted: caches fill, the runtime compiles. */
const WARM_UP = 3;

/**
 * Runs both sides turn by turn, so that a machine that slows down slows both, and each as often first as second.
 * @param prepare makes a round; its time is not counted.
 * @returns the medians in milliseconds.
 */
export async function interleave(
  rounds: number,
  prepare: (round: number) => Promise<Round> | Round,
): Promise<{ ours: number; peer: number }> {
  const times = { ours: [] as number[], peer: [] as number[] };
  for (let index = 0; index < rounds + WARM_UP; index++) {
    const round = await prepare(index);
    const order = index % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const);
    for (const side of order) {
      const time = await timed(() => round[side]());
      if (index >= WARM_UP) times[side].push(time);
    }
  }
  return { ours: median(times.ours), peer: median(times.peer) };
}

/** @returns milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}
