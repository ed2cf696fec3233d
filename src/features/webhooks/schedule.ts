/** The delays before the second and each later attempt (Standard Webhooks: Deliverability): 3 days and 4 hours in all. */
const DELAYS_S = [
  5,
  5 * 60,
  30 * 60,
  2 * 3_600,
  5 * 3_600,
  10 * 3_600,
  14 * 3_600,
  20 * 3_600,
  24 * 3_600,
] as const;
/** Plus or minus: deliveries that failed together are not retried together. */
const JITTER = 0.2;
/** A receiver gets no delivery for a second after one that failed, doubled each time up to a minute. */
const PAUSE_S = 1;
const PAUSE_MAX_S = 60;
/** Failures without a success for this long disable a webhook. */
const GIVE_UP_MS = 3 * 86_400_000;

/**
 * When a delivery is attempted again; null: no more.
 * @param attempts that were made
 * @param random from 0 to 1
 */
export function nextAttempt(
  attempts: number,
  { now, retryAfter, random }: { now: Date; retryAfter: number; random: number },
): Date | null {
  const delay = DELAYS_S[attempts - 1];
  if (delay === undefined) return null;
  const jittered = delay * (1 - JITTER + 2 * JITTER * random);
  return new Date(now.getTime() + Math.max(jittered, retryAfter) * 1000);
}

/** When the next delivery of a webhook may be attempted, whatever it is. @param failures in a row */
export function pauseUntil(failures: number, { now, retryAfter }: { now: Date; retryAfter: number }): Date {
  const pause = Math.min(PAUSE_S * 2 ** Math.min(failures - 1, 10), PAUSE_MAX_S);
  return new Date(now.getTime() + Math.max(pause, retryAfter) * 1000);
}

/** Whether a webhook is disabled because all its deliveries have failed for so long. */
export function isGivenUp(failingSince: Date, now: Date): boolean {
  return now.getTime() - failingSince.getTime() >= GIVE_UP_MS;
}
