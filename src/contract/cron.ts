import { Cron } from "croner";

/** Characters of a schedule: several times the longest that anybody would want to read. */
const CRON_MAX = 256;
/** Letters name months and weekdays; L, W, # and + are those of the library. A name such as `@daily` is no schedule. */
const FIELDS = /^[\dA-Za-z*?,/#+-]+(?:[ \t]+[\dA-Za-z*?,/#+-]+){4,5}$/;
/** Names of the tz database begin with a letter; engines also take offsets such as `+01:00`, which know no summer. */
const ZONE_NAME = /^[A-Za-z][\w+/-]{0,63}$/;
/** A schedule that is due at all is due in this zone: it has no gaps and no repeated hours. */
const ANY_ZONE = "UTC";
/** The cycle of leap years, without the one that each fourth century has: 29 February comes within it. */
const LONGEST_WAIT_FROM = new Date("2026-01-01T00:00:00Z");

/**
 * What is wrong with a schedule of five fields (minute hour day month weekday) or six (a second before them), as the end
 * of a sentence that begins with its name: `has to …`. Null: nothing is.
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
    return `is not a valid schedule: ${wordsOf(error)}`;
  }
}

/** Whether `name` is a zone of the tz database that this engine knows, such as `Europe/Berlin`. */
export function isTimezone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The first time after `after` (never `after` itself) at which a schedule that `checkCron` takes is due; null where there
 * is none. Clocks that change are met as Vixie cron meets them. A schedule of fixed times (numbers, lists and ranges in
 * its second, minute and hour) is due once a wall clock time: at the first of two, and right after a gap that swallows
 * it. One with a `*` or a step there goes on with real time: through both of two hours, and over a gap.
 */
export function nextDue(cron: string, timezone: string, after: Date): Date | null {
  return schedule(cron, timezone).nextRun(after);
}

/** The last time before or at `until`; null where there is none within what the library looks back. */
export function lastDue(cron: string, timezone: string, until: Date): Date | null {
  return schedule(cron, timezone).previousRuns(1, new Date(until.getTime() + 1))[0] ?? null;
}

const schedule = (cron: string, timezone: string): Cron =>
  new Cron(cron.trim(), { timezone, mode: "5-or-6-parts", fixedTimeRule: "no-wildcard", paused: true });

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be read";
  const words = error.message.replace(/^CronPattern: |\.$/g, "");
  return words.charAt(0).toLowerCase() + words.slice(1);
}
