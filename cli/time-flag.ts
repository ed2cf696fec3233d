import { usage } from "./failure.ts";

/** The times of `--since` and `--until`, for a query. @throws CliError for another text */
export const periodOf = ({ since, until }: { since?: string | undefined; until?: string | undefined }) => ({
  ...(since !== undefined && { since: timeOf("since", since) }),
  ...(until !== undefined && { until: timeOf("until", until) }),
});

/** A day, as its first instant in UTC, or a time. */
function timeOf(flag: string, text: string): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime()))
    throw usage(`--${flag} must be a date such as 2026-11-01, not "${text}".`);
  return time.toISOString();
}
