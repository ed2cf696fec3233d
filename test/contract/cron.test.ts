import { describe, expect, test } from "bun:test";
import { checkCron, isTimezone, lastDue, nextDue } from "../../src/contract/cron.ts";
import { fc } from "../helpers/property.ts";
import { generator, pick, SEED, share } from "../helpers/random.ts";

const MINUTE = 60_000;
/** Clocks change at these: an offset holds for a quarter of an hour. */
const STEP = 15 * MINUTE;
const YEAR = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const;
/** Before and after a change of the clock: more than any change swallows or repeats. */
const AROUND = 5 * 60 * MINUTE;
const RUNS = share(12, 500);
const ZONES = [
  "America/New_York",
  "Europe/Berlin",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Africa/Casablanca",
  "America/Santiago",
  "UTC",
];

interface Pattern {
  minute: string;
  hour: string;
  day?: string;
  month?: string;
  weekday?: string;
}

describe("all due times of a year match a simulation of the wall clock, minute by minute", () => {
  const patterns: Pattern[] = [
    { minute: "30", hour: "2" },
    { minute: "0", hour: "2" },
    { minute: "15", hour: "1" },
    { minute: "0", hour: "0" },
    { minute: "30", hour: "1,2,3" },
    { minute: "0,20,40", hour: "1-3" },
    { minute: "*/20", hour: "2" },
    { minute: "10", hour: "*/12" },
    { minute: "5", hour: "4", day: "29", month: "2" },
    { minute: "30", hour: "2", weekday: "0" },
    { minute: "30", hour: "1", day: "1-7", weekday: "7" },
    { minute: "59", hour: "23", day: "31" },
  ];
  const random = generator(SEED);
  const cases = patterns.map((pattern) => ({ pattern, zones: pick(share(1, 7), ZONES, random) }));
  test.each(ZONES)("%s", (zone) => {
    const clock = readClock(zone, ...YEAR);
    for (const { pattern } of cases.filter(({ zones }) => zones.includes(zone))) {
      expect([textOf(pattern), dues(textOf(pattern), zone, ...YEAR)]).toEqual([
        textOf(pattern),
        expected(pattern, clock),
      ]);
    }
  });
});

test("any schedule, around any clock change in any zone", () => {
  const windows = ZONES.flatMap((zone) =>
    changes(zone).map((at) => ({ zone, from: at - AROUND, to: at + AROUND })),
  );
  const part = (max: number) =>
    fc.oneof(
      fc.constant("*"),
      fc.integer({ min: 2, max: 30 }).map((step) => `*/${Math.min(step, max)}`),
      fc
        .uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 })
        .map((list) => list.toSorted((a, b) => a - b).join(",")),
      fc
        .tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    );
  const hours = fc.oneof({ weight: 3, arbitrary: part(3) }, part(23));
  fc.assert(
    fc.property(fc.constantFrom(...windows), part(59), hours, (window, minute, hour) => {
      const { zone, from, to } = window;
      const clock = readClock(zone, from, to);
      expect(dues(textOf({ minute, hour }), zone, from, to)).toEqual(expected({ minute, hour }, clock));
    }),
    { numRuns: RUNS },
  );
});

test("the last due time is consistent with the next one", () => {
  const moments = fc.integer({ min: YEAR[0], max: YEAR[1] });
  const patterns = fc.constantFrom("*/5 * * * *", "30 2 * * *", "0 9 * * 1-5", "0 0 1 * *", "*/10 * * * * *");
  fc.assert(
    fc.property(patterns, fc.constantFrom(...ZONES), moments, (cron, zone, moment) => {
      const until = nextDue(cron, zone, new Date(moment)) ?? expect.unreachable();
      expect(lastDue(cron, zone, until)).toEqual(until);
      const before = lastDue(cron, zone, new Date(until.getTime() - 1)) ?? expect.unreachable();
      expect(nextDue(cron, zone, before)).toEqual(until);
    }),
  );
});

test("a schedule of six fields has seconds", () => {
  const after = new Date("2026-03-08T06:59:59.500Z");
  const next = (cron: string) => nextDue(cron, "America/New_York", after)?.toISOString();
  expect(next("*/10 * * * * *")).toBe("2026-03-08T07:00:00.000Z");
  expect(next("5 30 2 * * *")).toBe("2026-03-08T07:00:00.000Z");
  expect(next("5 30 3 * * *")).toBe("2026-03-08T07:30:05.000Z");
});

describe("rejects an invalid schedule with a reason", () => {
  const FIELDS = "must be five fields";
  test.each([
    ["", FIELDS],
    ["* * * *", FIELDS],
    ["* * * * * * *", FIELDS],
    ["@daily", FIELDS],
    ["2026-01-01T00:00:00", FIELDS],
    ["* * * * \u0000", FIELDS],
    ["* * *\n* *", FIELDS],
    [`${"1,".repeat(200)}1 * * * *`, FIELDS],
    ["60 * * * *", "is not a valid schedule: "],
    ["* 24 * * *", "is not a valid schedule: "],
    ["* * 32 * *", "is not a valid schedule: "],
    ["* * * 13 *", "is not a valid schedule: "],
    ["* * * * 8", "is not a valid schedule: "],
    ["*/0 * * * *", "is not a valid schedule: "],
    ["5-1 * * * *", "is not a valid schedule: "],
    ["x * * * *", "is not a valid schedule: "],
    ["0 0 30 2 *", "names a day that never occurs"],
    ["0 0 31 4,6,9,11 *", "names a day that never occurs"],
  ])("%j", (cron, reason) => {
    expect(checkCron(cron)).toStartWith(reason);
  });
  test("any text is accepted or rejected without an exception", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."*/,-0159 LW#+?@aM") }), (cron) => {
        const wrong = checkCron(cron);
        if (wrong === null) expect(nextDue(cron, "UTC", new Date(YEAR[0]))).toBeInstanceOf(Date);
      }),
    );
  });
});

test.each(["*/5 * * * *", "0 9 * * MON-FRI", "0 0 29 2 *", "0 0 L * *", " 30 0 9 * * * "])(
  "accepts %j",
  (cron) => {
    expect(checkCron(cron)).toBeNull();
  },
);

test("zones are identified by their names", () => {
  for (const zone of ZONES) expect(isTimezone(zone)).toBeTrue();
  for (const zone of ["", "Europe/Atlantis", "+01:00", "../etc/passwd", "UTC\n"]) {
    expect(isTimezone(zone)).toBeFalse();
  }
});

const textOf = ({ minute, hour, day = "*", month = "*", weekday = "*" }: Pattern) =>
  `${minute} ${hour} ${day} ${month} ${weekday}`;

function dues(cron: string, zone: string, from: number, to: number): string[] {
  const found: string[] = [];
  let at = nextDue(cron, zone, new Date(from - 1));
  while (at && at.getTime() < to) {
    found.push(at.toISOString());
    at = nextDue(cron, zone, at);
  }
  return found;
}

/** Each minute as it is on the wall: the same minute of days, months and years counted as if there were no zones. */
type Clock = { at: number; wall: number }[];

function readClock(zone: string, from: number, to: number): Clock {
  const offset = offsets(zone);
  const clock: Clock = [];
  for (let at = from; at < to; at += MINUTE) clock.push({ at, wall: at + offset(at) });
  return clock;
}

/** Of each zone, by step: a year of them takes a second to read. */
const known = new Map<string, Map<number, number>>();

function offsets(zone: string): (at: number) => number {
  const ofZone = known.get(zone) ?? new Map<number, number>();
  known.set(zone, ofZone);
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const read = (at: number) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)] as const));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? expect.unreachable(type);
    return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute")) - at;
  };
  let last = { step: Number.NaN, offset: 0 };
  return (at) => {
    const step = Math.floor(at / STEP);
    if (step !== last.step) {
      const offset = ofZone.get(step) ?? read(step * STEP);
      ofZone.set(step, offset);
      last = { step, offset };
    }
    return last.offset;
  };
}

function changes(zone: string): number[] {
  const offset = offsets(zone);
  const found: number[] = [];
  for (let at = YEAR[0] + STEP; at < YEAR[1]; at += STEP) {
    if (offset(at) !== offset(at - STEP)) found.push(at);
  }
  return found;
}

/** The rule, said over what the wall clock shows: it knows nothing of how the due times are found. */
function expected(pattern: Pattern, clock: Clock): string[] {
  const wild = /[*]/.test(pattern.minute + pattern.hour);
  const matches = matcher(pattern);
  const due = new Set<number>();
  /** The first wall clock minute that has not been shown yet. */
  let fresh = clock[0]?.wall ?? 0;
  for (const { at, wall } of clock) {
    for (let skipped = fresh; !wild && skipped < wall; skipped += MINUTE) {
      if (matches(skipped)) due.add(at);
    }
    if ((wild || wall >= fresh) && matches(wall)) due.add(at);
    fresh = Math.max(fresh, wall + MINUTE);
  }
  return [...due].map((at) => new Date(at).toISOString());
}

function matcher({
  minute,
  hour,
  day = "*",
  month = "*",
  weekday = "*",
}: Pattern): (wall: number) => boolean {
  const [minutes, hours, days, months, weekdays] = [minute, hour, day, month, weekday].map(listed);
  return (wall) => {
    if (!minutes?.[Math.floor(wall / MINUTE) % 60] || !hours?.[Math.floor(wall / (60 * MINUTE)) % 24])
      return false;
    const date = new Date(wall);
    const either = [
      days?.[date.getUTCDate()],
      weekdays?.[date.getUTCDay()] || weekdays?.[date.getUTCDay() + 7],
    ];
    const fits = day === "*" || weekday === "*" ? either.every(Boolean) : either.some(Boolean);
    return fits && months?.[date.getUTCMonth() + 1] === true;
  };
}

const listed = (field: string): boolean[] =>
  Array.from({ length: 60 }, (_, value) =>
    field.split(",").some((part) => {
      const [range = "", step] = part.split("/");
      const [low = 0, high = low] = range === "*" ? [0, 59] : range.split("-").map(Number);
      return value >= low && value <= high && (step === undefined || value % Number(step) === 0);
    }),
  );
