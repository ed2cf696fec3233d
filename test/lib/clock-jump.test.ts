import { expect, test } from "bun:test";
import { watchForJumps } from "../../src/lib/clock-jump.ts";

test.each([
  ["time that passes", 7_200, 7_200, false],
  ["a clock that is set two hours ahead", 7_200, 1, true],
  ["a machine that slept", 7_205, 5, true],
  ["a clock that is set back", -7_200, 5, false],
  ["a clock that is corrected a little", 65, 5, false],
  ["a clock that is corrected by more", 66, 5, true],
])("%s", (_, clockS, passedS, jumped) => {
  let monotonic = 5_000;
  const hasJumped = watchForJumps(new Date(1_000_000), () => monotonic);
  monotonic += passedS * 1000;
  const now = new Date(1_000_000 + clockS * 1000);
  expect(hasJumped(now)).toBe(jumped);
  // it is told once
  expect(hasJumped(now)).toBe(false);
});
