import { describe, expect, test } from "bun:test";
import { rangeOf } from "../../src/contract/search/dates.ts";
import { parseSearch, printSearch, type Search, type Term } from "../../src/contract/search/parse.ts";
import { choicesOf, isQualifier, QUALIFIERS, SORTS } from "../../src/contract/search/qualifiers.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const RUNS = { numRuns: share(150, 20_000) };

const text = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 8 }),
    fc.string({ unit: fc.constantFrom(...'a-:"\\ #\u3000\u202e') }),
  )
  .filter((value) => value !== "" && !value.includes("\0"));
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ name: fc.constant("text" as const), value: text, not: fc.boolean() }),
  fc.constantFrom(...Object.keys(QUALIFIERS).filter(isQualifier)).chain((name) => {
    const choices = choicesOf(name);
    const date = fc.constantFrom("2026-01-31", ">=2026-01-31", "2026-01-01..*", "<2026-01-01T12:30:00Z");
    const isDate = QUALIFIERS[name].takes.kind === "date";
    return fc.record({
      name: fc.constant(name),
      value: choices ? fc.constantFrom(...choices) : isDate ? date : text,
      not: fc.boolean(),
    });
  }),
);
const search: fc.Arbitrary<Search> = fc
  .record({ terms: fc.array(term, { maxLength: 6 }) }, { requiredKeys: ["terms"] })
  .chain((found) => fc.constantFrom(found, ...SORTS.map((sort) => ({ ...found, sort }))));

test("a search that is written is read as the same", () => {
  fc.assert(
    fc.property(search, (wanted) => {
      const written = printSearch(wanted);
      fc.pre(written.length <= 256);
      expect([written, parseSearch(written)]).toEqual([written, { search: wanted }]);
    }),
    RUNS,
  );
});

test("any text is a search, or a problem in a sentence; what is read can be written", () => {
  const words = fc.constantFrom(
    "is:",
    "-",
    '"',
    "\\",
    " ",
    "author:",
    "sort:",
    "created:",
    ">",
    "..",
    "a",
    "#1",
    "\0",
  );
  const line = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(words).map((each) => each.join("")),
  );
  fc.assert(
    fc.property(line, (written) => {
      const parsed = parseSearch(written);
      if ("problem" in parsed) expect(parsed.problem).toMatch(/[.)"`?]$/s);
      else expect(parseSearch(printSearch(parsed.search))).toEqual(parsed);
    }),
    RUNS,
  );
});

describe("a search is read", () => {
  const rows: [written: string, printed: string][] = [
    ["is:open author:@me fix login", "is:open author:@me fix login"],
    ["  IS:Open\tlogin ", "is:open login"],
    ["state:closed status:merged status:failure", "is:closed is:merged checks:failure"],
    ['"fix login" -"a b" -is:draft', '"fix login" -"a b" -is:draft'],
    ['author:"Ada L" head:fix/log', 'author:"Ada L" head:fix/log'],
    ['"a \\"b\\" \\\\"', '"a \\"b\\" \\\\"'],
    ["#12 12:30 - -- --x", '#12 12:30 "-" "--" "--x"'],
    ['"is:open"', '"is:open"'],
    ["sort:updated-asc x", "x sort:updated-asc"],
    ['"" a\0b', "ab"],
  ];
  test.each(rows)("%s", (written, printed) => {
    const parsed = parseSearch(written);
    expect("search" in parsed ? printSearch(parsed.search) : parsed).toBe(printed);
  });
});

describe("a problem says what is meant", () => {
  const rows: [written: string, says: string][] = [
    ["is:opne", "Did you mean is:open?"],
    ["is:x", "It is one of open, merged, closed, draft."],
    ["status:x", "It is one of open, merged, closed, draft, success, failure, pending, none."],
    ["auhtor:me", "Did you mean `author:`?"],
    ["http://x", 'put it in quotes: "http://x"'],
    ["-std::vec", 'put it in quotes: "std::vec"'],
    ["toString:x", "The qualifiers are is, author,"],
    ["author:", "`author:` lacks a value."],
    ['is:"" x', "`is:` lacks a value."],
    ['"abc', "A quote is not closed"],
    ['-head:"abc', "A quote is not closed"],
    ['"a"b', "A space is required after the closing quote"],
    ["created:2026-02-30", "is not a date"],
    ["created:yesterday", "is not a date"],
    ["sort:x", "It is one of created-desc, created-asc, updated-desc, updated-asc."],
    ["-sort:created-asc", "cannot be negated"],
    ["sort:created-asc sort:created-asc", "A search has one `sort:`."],
    ["x ".repeat(21), "at most 20 words"],
    ["x".repeat(257), "at most 256 characters"],
  ];
  test.each(rows)("%s", (written, says) => {
    const parsed = parseSearch(written);
    expect("problem" in parsed ? parsed.problem : "read").toContain(says);
  });
  test("the longest search is read", () => {
    expect(parseSearch("x ".repeat(20))).toHaveProperty("search");
    expect(parseSearch("x".repeat(256))).toHaveProperty("search");
  });
});

test("dates are days of UTC, times, comparisons and ranges", () => {
  const rows: [written: string, from: string | null, to: string | null][] = [
    ["2026-01-31", "2026-01-31T00:00:00.000Z", "2026-02-01T00:00:00.000Z"],
    [">2026-01-31", "2026-02-01T00:00:00.000Z", null],
    [">=2026-01-31", "2026-01-31T00:00:00.000Z", null],
    ["<2026-01-31", null, "2026-01-31T00:00:00.000Z"],
    ["<=2026-01-31", null, "2026-02-01T00:00:00.000Z"],
    ["2026-01-01..2026-01-31", "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"],
    ["*..2026-01-31", null, "2026-02-01T00:00:00.000Z"],
    ["2026-01-31..*", "2026-01-31T00:00:00.000Z", null],
    [">=2026-01-31T12:00", "2026-01-31T12:00:00.000Z", null],
    ["<2026-01-31T12:00:00+02:00", null, "2026-01-31T10:00:00.000Z"],
  ];
  for (const [written, from, to] of rows) {
    const range = rangeOf(written);
    expect([written, range?.from?.toISOString() ?? null, range?.to?.toISOString() ?? null]).toEqual([
      written,
      from,
      to,
    ]);
  }
  for (const none of [
    "",
    "*",
    "2026",
    "2026-13-01",
    "2026-02-30",
    "0000-01-01",
    "9999-01-01",
    "=2026-01-01",
    "a..b",
    "2026-01-01..",
    "1..2..3",
  ])
    expect([none, rangeOf(none)]).toEqual([none, null]);
});
