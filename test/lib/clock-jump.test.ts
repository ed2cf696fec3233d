import { expect, test } from "bun:test";
import { watchForJumps } from "../../src/lib/clock-jump.ts";

test.each([
  ["time that passes", 7_200, 7_200, 0],
  ["a clock that is set two hours ahead", 7_200, 1, 7_199],
  ["a machine that slept", 7_205, 5, 7_200],
  ["a clock that is set back", -7_200, 5, -7_205],
  ["a clock that is corrected a little", 65, 5, 0],
  ["a clock that is corrected by more", 66, 5, 61],
  ["a clock that is set back a little", -55, 5, 0],
  ["a clock that is set back by more", -56, 5, -61],
])("%s", (_, clockS, passedS, jumpS) => {
  let monotonic = 5_000;
  const jumpOf = watchForJumps(new Date(1_000_000), () => monotonic);
  monotonic += passedS * 1000;
  const now = new Date(1_000_000 + clockS * 1000);
  expect(jumpOf(now)).toBe(jumpS * 1000);
  // it is told once
  expect(jumpOf(now)).toBe(0);
});

test("small corrections in the same direction are a jump in the end", () => {
  let monotonic = 0;
  const jumpOf = watchForJumps(new Date(0), () => monotonic);
  const jumps = Array.from({ length: 4 }, (_, round) => {
    monotonic += 1_000;
    return jumpOf(new Date(monotonic + (round + 1) * 20_000));
  });
  expect(jumps).toEqual([0, 0, 0, 80_000]);
});
