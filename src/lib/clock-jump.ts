/** Rounds are seconds apart; a busy machine delays them. */
const JUMP_MS = 60_000;

/**
 * Watches whether the clock of the day is set, or the machine sleeps: then the time between two readings of it is not the
 * time that has passed.
 * @param start a reading of the clock
 * @param monotonic milliseconds, which no one sets
 * @returns whether a reading of the clock, made now, has jumped ahead since the one before
 */
export function watchForJumps(start: Date, monotonic: () => number): (now: Date) => boolean {
  let last = start.getTime() - monotonic();
  return (now) => {
    const ahead = now.getTime() - monotonic();
    const jumped = ahead - last > JUMP_MS;
    last = ahead;
    return jumped;
  };
}
