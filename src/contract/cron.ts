import { Cron } from "croner";

/** Characters of a schedule. */
const CRON_MAX = 256;
/** Letters name months and weekdays; L, W, # and + are those of the library. Names such as `@daily` are not supported. */
const FIELDS = /^[\dA-Za-z*?,/#+-]+(?:[ \t]+[\dA-Za-z*?,/#+-]+){4,5}$/;
/** Names of the tz database begin with a letter; engines also accept offsets such as `+01:00`, which ignore daylight saving time. */
const ZONE_NAME = /^[A-Za-z][\w+/-]{0,63}$/;
/** A zone without gaps and repeated hours: a schedule that never occurs here never occurs at all. */
const ANY_ZONE = "UTC";
/** A start from which 29 February occurs within four years. */
const LONGEST_WAIT_FROM = new Date("2026-01-01T00:00:00Z");

/**
 * Checks a schedule of five fields (minute hour day month weekday) or six (a second before them). Returns the error as the
 * end of a sentence that starts with the key, `must be …`; null if it is valid.
 */
export function checkCron(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > CRON_MAX || !FIELDS.test(trimmed)) {
    return 'must be five fields (minute hour day month weekday) or six (a second before them), such as "0 9 * * 1-5"';
  }
  try {
    const never = schedule(trimmed, ANY_ZONE).nextRun(LONGEST_WAIT_FROM) === null;
    return never ? "names a day that never occurs" : null;
  } catch (error) {
    return `is not a valid schedule: ${reasonOf(error)}`;
  }
}

/** Whether `name` is a zone of the tz database that this engine supports, such as `Europe/Berlin`. */
export function isTimezone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The first time after `after` (exclusive) at which a valid schedule is due; null if there is none. Daylight saving time
 * works as in Vixie cron: a schedule of fixed times (numbers, lists and ranges in its second, minute and hour) is due once
 * per wall clock time, at the first of two and right after a gap that skips it. One with a `*` or a step there follows real
 * time: through both of two hours, and across a gap.
 */
export function nextDue(cron: string, timezone: string, after: Date): Date | null {
  return schedule(cron, timezone).nextRun(after);
}

/** The last time before or at `until`; null if there is none within the range that the library searches. */
export function lastDue(cron: string, timezone: string, until: Date): Date | null {
  return schedule(cron, timezone).previousRuns(1, new Date(until.getTime() + 1))[0] ?? null;
}

const schedule = (cron: string, timezone: string): Cron =>
  new Cron(cron.trim(), { timezone, mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true });

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be read";
  const words = error.message.replace(/^CronPattern: |\.$/g, "");
  return words.charAt(0).toLowerCase() + words.slice(1);
}
