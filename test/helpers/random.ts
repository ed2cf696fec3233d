/** From where this run draws; `SVC_PROPERTY_SEED` has the same drawn again. Tests that draw have it in their names. */
export const SEED = Number(process.env["SVC_PROPERTY_SEED"] ?? Date.now() % 1_000_000_000);

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
