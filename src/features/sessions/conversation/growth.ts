/** Milliseconds: a text that has doubled is stored after the first, any other after the second. */
const GROWTH_MS = { least: 500, most: 5_000 };

/**
 * Whether a text that only grows must be stored. Postgres writes all of it again each time, so it is stored when it has
 * doubled; and within seconds, for readers at another server. Until then the runtime has it, too.
 * @param passedMs since the last texts were stored
 * @param stored its length as it was stored then; 0 if it was not among them
 */
export function isGrowthDue(passedMs: number, length: number, stored: number): boolean {
  return passedMs >= (length >= 2 * stored ? GROWTH_MS.least : GROWTH_MS.most);
}
