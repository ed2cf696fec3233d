/**
 * From where this run draws. The test command gives every run of a commit the same; `npm test -- --seed N` has what another
 * run drew drawn again.
 */
export const SEED = Number(process.env["SVC_TEST_SEED"] ?? 1);

/** How often a property or a fault is tried: some of it in every run, all of it in `npm test -- --full`. */
export function share(usual: number, full: number): number {
  const given = process.env["SVC_TEST_RUNS"];
  if (given) return Number(given);
  return process.env["SVC_TEST_FULL"] === "1" ? full : usual;
}

/** Draws a whole number from 0 up to, and without, `below`. */
export type Random = (below: number) => number;

/** Numbers that look random, and are the same for the same seed (mulberry32). */
export function generator(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Rows of a table of faults: as many as are usual, drawn by the seed and in their order, or all in `npm test -- --full`. */
export function sample<Row>(usual: number, rows: readonly Row[]): Row[] {
  return pick(share(usual, rows.length), rows, generator(SEED));
}

/** This number of rows in their order, or all if there are fewer. */
export function pick<Row>(count: number, rows: readonly Row[], random: Random): Row[] {
  let wanted = Math.min(count, rows.length);
  return rows.filter((_, index) => {
    const isTaken = random(rows.length - index) < wanted;
    if (isTaken) wanted--;
    return isTaken;
  });
}
