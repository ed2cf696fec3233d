/** The longest that is respected. */
const RETRY_AFTER_MAX_S = 3_600;

/** Seconds of a `Retry-After` header (RFC 9110, 10.2.3), within bounds; 0 without one. */
export function readRetryAfter(header: string | null, now: Date): number {
  if (header === null) return 0;
  const seconds = /^\d{1,9}$/.test(header)
    ? Number(header)
    : (new Date(header).getTime() - now.getTime()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), RETRY_AFTER_MAX_S) : 0;
}
