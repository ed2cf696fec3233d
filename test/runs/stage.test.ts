import { expect, test } from "bun:test";
import { watchStage } from "../../src/features/runs/stage.ts";

const LIMIT = { stillMs: 60_000, longestMs: 600_000 };
const STILL = ": the sandbox has shown no activity for 60 seconds.";
const LONG = " within 10 minutes.";

/** @param looks seconds of the stage, with the processor time that the daemon tells then, and what else it reports */
function watched(
  looks: readonly (readonly [at: number, workedMs: number | undefined, state?: string])[],
): string | null {
  let now = 1_000_000;
  const stage = watchStage(LIMIT, () => now);
  let late: string | null = null;
  for (const [at, worked, state] of looks) {
    now = 1_000_000 + at * 1_000;
    stage.saw(worked, state);
    late ??= stage.late();
  }
  return late;
}

const every = (seconds: number, until: number, worked: (at: number) => number | undefined) =>
  Array.from(
    { length: until / seconds + 1 },
    (_, index) => [index * seconds, worked(index * seconds)] as const,
  );

test.each([
  ["a sandbox that does nothing", every(1, 61, () => 500), STILL],
  ["one that did nothing for just less", every(1, 60, () => 500), null],
  ["a daemon that does not tell", every(1, 61, () => undefined), STILL],
  [
    "a daemon that does not answer",
    [
      [0, 500],
      [61, undefined],
    ],
    STILL,
  ],
  ["one that works a little", every(10, 300, (at) => at * 10), null],
  ["one that only waits: some milliseconds in a minute", every(1, 61, (at) => at), STILL],
  [
    "one whose worker has ended",
    [
      [0, 9_000],
      [50, 100],
      [100, 100],
    ],
    null,
  ],
  [
    "one whose health changes",
    [
      [0, 500, "starting"],
      [59, 500, "failed"],
      [118, 500, "failed"],
    ],
    null,
  ],
  [
    "one whose health has changed for the last time",
    [
      [0, 500, "starting"],
      [59, 500, "failed"],
      [120, 500, "failed"],
    ],
    STILL,
  ],
  ["one that works for too long", every(10, 610, (at) => at * 1_000), LONG],
  ["one that works for just as long as it may", every(10, 600, (at) => at * 1_000), null],
] as const)("a stage of %s", (_, looks, late) => {
  expect(watched(looks)).toBe(late);
});
