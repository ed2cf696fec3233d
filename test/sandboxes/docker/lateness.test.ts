import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createLateness, STUCK } from "../../../src/sandboxes/docker/lateness.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const MINUTE = 60;
const answers = async () => "OK";
const fails = () => Promise.reject(new Error("no socket"));

/** @returns after how many seconds the call is late, and whether it is since nothing moves */
async function lateAfter(
  ping: (() => Promise<unknown>) | null,
  movesAt: (second: number) => boolean = () => false,
): Promise<[seconds: number, isStuck: boolean] | null> {
  let second = 0;
  const now = () => second * 1000;
  const late = createLateness({ ms: MINUTE * 1000, longestMs: 10 * MINUTE * 1000 }, ping, now);
  for (second = 1; second <= 20 * MINUTE; second++) {
    if (movesAt(second)) late.moved();
    jest.advanceTimersByTime(1000);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    if (late.signal.aborted) break;
  }
  late.end();
  expect(jest.getTimerCount()).toBe(0);
  return late.signal.aborted ? [second, late.signal.reason === STUCK] : null;
}

test("an engine that answers has ten minutes for a call", async () => {
  expect(await lateAfter(answers)).toEqual([10 * MINUTE, true]);
});

test("one that does not answer is away after a minute", async () => {
  expect(await lateAfter(fails)).toEqual([MINUTE, false]);
});

test("one that stops to answer is away a minute later", async () => {
  let pings = 0;
  expect(await lateAfter(() => (++pings < 4 ? answers() : fails()))).toEqual([4 * MINUTE, false]);
});

test("a call that reports progress is late without it, whether or not the engine answers", async () => {
  expect(await lateAfter(null)).toEqual([MINUTE, true]);
  expect(await lateAfter(null, (second) => second === 59)).toEqual([59 + MINUTE, true]);
  expect(await lateAfter(null, (second) => second % 59 === 0)).toEqual([10 * MINUTE, true]);
});

test("a call that has ended is not late", () => {
  const late = createLateness({ ms: 1_000, longestMs: 2_000 }, fails);
  late.end();
  jest.advanceTimersByTime(5_000);
  expect(late.signal.aborted).toBe(false);
});
