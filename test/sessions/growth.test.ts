import { expect, test } from "bun:test";
import { isGrowthDue } from "../../src/features/sessions/conversation/growth.ts";

test.each([
  [499, 10, 0, false],
  [500, 10, 0, true],
  [500, 20, 10, true],
  [500, 19, 10, false],
  [4_999, 19, 10, false],
  [5_000, 19, 10, true],
])(
  "after %i ms a text of %i characters, of which %i are stored, is stored: %p",
  (passed, length, stored, isDue) => {
    expect(isGrowthDue(passed, length, stored)).toBe(isDue);
  },
);
