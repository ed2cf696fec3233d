import type { Workbench } from "./workbench.ts";

/** The timed steps of one side by name. They run one after the other. */
type Side<Name extends string> = Partial<Record<Name, () => Promise<unknown>>>;

/** Rounds that are not counted, which fill caches and let the runtime compile. */
const WARM_UP = 3;

/**
 * Runs the sides of a comparison in alternation, so that a machine that slows down affects all of them, and each side runs
 * equally often first and last.
 * @param prepare makes the sides of one round; its time is not counted.
 * @returns the median of each step in milliseconds.
 */
export async function interleave<Name extends string>(
  bench: Workbench,
  rounds: number,
  prepare: (round: number) => Promise<readonly Side<Name>[]> | readonly Side<Name>[],
): Promise<Record<Name, number>> {
  const times = new Map<string, number[]>();
  const warmUp = bench.amount(WARM_UP, 0);
  for (let round = 0; round < warmUp + bench.amount(rounds); round++) {
    const sides = await prepare(round);
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      for (const [name, step] of Object.entries<(() => Promise<unknown>) | undefined>(side)) {
        if (step === undefined) continue;
        const time = await timed(step);
        if (round >= warmUp) times.set(name, [...(times.get(name) ?? []), time]);
      }
    }
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, median(all)])) as Record<Name, number>;
}

/** The same for two sides that measure themselves. @returns their results without the warm-up round */
export async function alternate<Ours, Peer>(
  bench: Workbench,
  rounds: number,
  sides: { ours: () => Promise<Ours>; peer: () => Promise<Peer> },
): Promise<{ ours: Ours[]; peer: Peer[] }> {
  const warmUp = bench.amount(1, 0);
  const [ours, peer]: [Ours[], Peer[]] = [[], []];
  for (let round = 0; round < warmUp + bench.amount(rounds); round++) {
    const steps = [async () => ours.push(await sides.ours()), async () => peer.push(await sides.peer())];
    for (const step of round % 2 === 0 ? steps : steps.toReversed()) await step();
  }
  return { ours: ours.slice(warmUp), peer: peer.slice(warmUp) };
}

/** @returns milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}
