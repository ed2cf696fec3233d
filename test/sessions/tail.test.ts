import { expect, test } from "bun:test";
import { createTail } from "../../src/features/sessions/events.ts";
import { fc } from "../helpers/property.ts";

const line = (text: string) => ({ at: null, source: "sandbox" as const, text });

test("repeated reads of the end of a log return each line once", () => {
  fc.assert(
    fc.property(
      // lines are numbered, as a log's are by their times
      fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 12, max: 40 }),
      (steps, window) => {
        const tail = createTail(false);
        const told: string[] = [];
        let written = 0;
        for (const step of steps) {
          written += step;
          const all = Array.from({ length: written }, (_, index) => line(`line ${index}`));
          told.push(...tail(all.slice(-window)).map(({ text }) => text));
        }
        expect(told).toEqual(Array.from({ length: written }, (_, index) => `line ${index}`));
      },
    ),
  );
});

test("a resumed stream skips the lines of the first read, and returns new ones", () => {
  const tail = createTail(true);
  expect(tail([])).toEqual([]);
  expect(tail([line("old")])).toEqual([]);
  expect(tail([line("old"), line("new")])).toEqual([line("new")]);
  // another sandbox
  expect(tail([line("first")])).toEqual([line("first")]);
});
