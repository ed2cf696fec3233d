/** Points in time from `from` up to, and without, `to`; null: without an end. */
export interface DateRange {
  from: Date | null;
  to: Date | null;
}

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const COMPARISON = /^(>=|<=|>|<)?(.*)$/s;

/**
 * The range of a date in a search: a day (UTC) or a time, after a comparison if there is one, or two of them, as GitHub has it:
 * `2026-01-31`, `>=2026-01-31T12:00:00Z`, `2026-01-01..2026-01-31`, `*..2026-01-31`. Null: it is none.
 */
export function rangeOf(text: string): DateRange | null {
  const ends = text.split("..");
  if (ends.length === 2) return between(ends[0] ?? "", ends[1] ?? "");
  const [, comparison, written = ""] = COMPARISON.exec(text) ?? [];
  const at = momentOf(written);
  if (at === null) return null;
  switch (comparison) {
    case ">":
      return { from: at.to, to: null };
    case ">=":
      return { from: at.from, to: null };
    case "<":
      return { from: null, to: at.from };
    case "<=":
      return { from: null, to: at.to };
    default:
      return at;
  }
}

function between(first: string, last: string): DateRange | null {
  const from = first === "*" ? { from: null } : momentOf(first);
  const to = last === "*" ? { to: null } : momentOf(last);
  return from === null || to === null ? null : { from: from.from, to: to.to };
}

/** A day is 24 hours from midnight UTC, and a time the millisecond that begins there. */
function momentOf(text: string): { from: Date; to: Date } | null {
  if (!DATE.test(text)) return null;
  const isDay = text.length === "2026-01-31".length;
  const from = new Date(isDay || /Z|[+-]\d{2}:\d{2}$/.test(text) ? text : `${text}Z`);
  // 30 February is a date of JavaScript, and year 0 none of Postgres
  if (Number.isNaN(from.getTime()) || new Date(text.slice(0, 10)).getUTCDate() !== Number(text.slice(8, 10)))
    return null;
  if (from.getUTCFullYear() < 1 || from.getUTCFullYear() > 9998) return null;
  return { from, to: new Date(from.getTime() + (isDay ? DAY_MS : 1)) };
}
