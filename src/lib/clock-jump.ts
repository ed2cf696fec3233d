/** Rounds are seconds apart; a busy machine delays them. */
const JUMP_MS = 60_000;

/**
 * Watches whether the clock of the day is set, or the machine sleeps: then the time between two readings of it is not the
 * time that has passed.
 * @param start a reading of the clock
 * @param monotonic milliseconds, which no one sets
 * @returns by how many milliseconds a reading of the clock, made now, has jumped since the one before; 0: it has not
 */
export function watchForJumps(start: Date, monotonic: () => number): (now: Date) => number {
  let last = start.getTime() - monotonic();
  return (now) => {
    const ahead = now.getTime() - monotonic();
    const jump = ahead - last;
    // small corrections add up
    if (Math.abs(jump) <= JUMP_MS) return 0;
    last = ahead;
    return jump;
  };
}
