import type { DateRange } from "../../../contract/search/dates.ts";

/** The years that a range without an end is limited to: svc has no older rows. */
const YEARS = { first: 2000, last: 2099 };

/**
 * The days, months and years that a range touches, as the index has them: `2026-01-31`, `2026-02`, `2027`. They may have moments
 * outside the range.
 */
export function daysOf({ from, to }: DateRange): string[] {
  const first = clamp(from ?? new Date(0));
  const end = clamp(to ?? new Date(Date.UTC(YEARS.last + 1, 0)));
  const found: string[] = [];
  let [year, month, day] = partsOf(first);
  while (Date.UTC(year, month, day) < end.getTime()) {
    if (month === 0 && day === 1 && Date.UTC(year + 1, 0) <= end.getTime()) {
      found.push(iso(year, month, day).slice(0, "2026".length));
      year++;
    } else if (day === 1 && Date.UTC(year, month + 1) <= end.getTime()) {
      found.push(iso(year, month, day).slice(0, "2026-01".length));
      [year, month, day] = partsOf(new Date(Date.UTC(year, month + 1)));
    } else {
      found.push(iso(year, month, day));
      [year, month, day] = partsOf(new Date(Date.UTC(year, month, day + 1)));
    }
  }
  return found;
}

function clamp(time: Date): Date {
  const [first, end] = [Date.UTC(YEARS.first, 0), Date.UTC(YEARS.last + 1, 0)];
  return new Date(Math.min(Math.max(time.getTime(), first), end));
}

const partsOf = (time: Date): [year: number, month: number, day: number] => [
  time.getUTCFullYear(),
  time.getUTCMonth(),
  time.getUTCDate(),
];

const iso = (year: number, month: number, day: number): string =>
  new Date(Date.UTC(year, month, day)).toISOString().slice(0, "2026-01-31".length);
