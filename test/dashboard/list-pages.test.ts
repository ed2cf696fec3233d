import { expect, test } from "bun:test";
import { inPlace, isInView } from "../../dashboard/api/list-pages.ts";
import { fc } from "../helpers/property.ts";

const SPARE = 20;
const idOf = (row: number) => String(row);

test("a page is in view if the window shows one of its rows", () => {
  const pages = [30, 100, 5].map((length) => Array.from({ length }, (_, index) => index));
  const shown = (first: number, last: number) =>
    pages.flatMap((_, page) => (isInView(pages, page, { first, last }) ? [page] : []));
  expect(shown(0, 10)).toEqual([0]);
  expect(shown(29, 29)).toEqual([0]);
  expect(shown(30, 40)).toEqual([1]);
  expect(shown(20, 30)).toEqual([0, 1]);
  expect(shown(129, 130)).toEqual([1, 2]);
  expect(shown(135, 140)).toEqual([]);
});

test("a page that was refetched and the next one, which was not, have each row once, in order", () => {
  const cases = fc.property(
    fc.record({
      rows: fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 10, maxLength: 80 }),
      added: fc.integer({ min: 0, max: SPARE - 1 }),
      removed: fc.array(fc.nat({ max: 200 }), { maxLength: 5 }),
      split: fc.integer({ min: 1, max: 9 }),
    }),
    ({ rows, added, removed, split }) => {
      // the newest has the largest number
      const before = rows.toSorted((a, b) => b - a);
      const [old, next] = [before.slice(0, split), before.slice(split)];
      const newest = Array.from({ length: added }, (_, index) => 20_000 - index);
      const now = [...newest, ...before].filter((row) => !removed.some((at) => before[at] === row));
      const kept = inPlace(now.slice(0, old.length + SPARE), next, idOf);
      const last = now.slice(0, old.length + SPARE).at(-1);
      if (kept === null) expect(last === undefined || !next.includes(last)).toBe(true);
      else expect(kept).toEqual(now.filter((row) => !next.includes(row)));
    },
  );
  fc.assert(cases);
});

test("a page that no longer reaches the next one is not in its place", () => {
  expect(inPlace([9, 8, 7], [3, 2, 1], idOf)).toBeNull();
  expect(inPlace([], [3], idOf)).toBeNull();
  expect(inPlace([9, 8, 3], [3, 2, 1], idOf)).toEqual([9, 8]);
  // a row that moved up from the next page stays where it is now
  expect(inPlace([2, 9, 8, 3], [3, 2, 1], idOf)).toEqual([2, 9, 8]);
});
