import { expect, jest, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { type Done, watchMovement } from "../../src/git/run/movement.ts";
import { Runner } from "../../src/git/run/run.ts";
import { QUIET, temporary } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";

/** Of a process at each second: bytes and milliseconds of processor time so far; null: the system does not say. */
type Second = Done | null;
const at = (bytes: number, workedMs: number): Done => ({ bytes, workedMs });
const repeat = (count: number, done: (second: number) => Second): Second[] =>
  Array.from({ length: count }, (_, second) => done(second));

test.each<[rule: string, seconds: Second[], stuckAfter: number | null]>([
  ["what does nothing is stuck", repeat(20, () => at(0, 0)), 11],
  ["what reads or writes is not", repeat(40, (second) => at(second, 0)), null],
  ["what computes is not", repeat(40, (second) => at(7, second * 60)), null],
  ["the little that a loop of waiting takes is no work", repeat(20, (second) => at(7, second * 4)), 11],
  ["it counts from the last movement", [...repeat(8, () => at(0, 0)), ...repeat(30, () => at(1, 0))], 18],
  ["a child that ends is movement", [...repeat(9, () => at(5, 50)), ...repeat(30, () => at(5, 20))], 19],
  ["what moves just in time is not", repeat(60, (second) => at(Math.floor(second / 10), 0)), null],
  ["a system that does not say limits nothing", repeat(60, () => null), null],
])("%s", async (_, seconds, stuckAfter) => {
  jest.useFakeTimers();
  try {
    let second = 0;
    let stuckAt: number | null = null;
    const end = watchMovement(
      1,
      10_000,
      () => {
        stuckAt = second;
      },
      { now: () => second * 1000, done: async () => seconds[second] ?? null },
    );
    for (second = 1; second < seconds.length; second++) {
      jest.advanceTimersByTime(1_000);
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    }
    end();
    expect([stuckAt, jest.getTimerCount()]).toEqual([stuckAfter, 0]);
  } finally {
    jest.useRealTimers();
  }
});

needs("/proc of Linux", process.platform === "linux")(
  "a git that waits is stopped, one that works or is answered slowly is not",
  async () => {
    await using directory = await temporary();
    const shell = `${directory.path}/shell`;
    await writeFile(shell, '#!/bin/sh\neval "$1"\n', { mode: 0o755 });
    const runner = new Runner(directory.path, QUIET, shell);
    const run = (script: string) =>
      runner.run({
        args: [script],
        environment: GIT_ENVIRONMENT,
        deadlineMs: WAIT_LIMIT_MS,
        stillMs: 1_000,
        outputBytes: 100,
      });
    const slowly = "for piece in 1 2 3 4 5 6 7 8; do sleep 0.3; printf x; done";
    // of a child, as git's are
    const working = `(end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done)`;
    const [waits, answered, works] = await Promise.all(["sleep 60", slowly, working].map(run));
    expect([waits?.stopped, answered?.stopped, works?.stopped]).toEqual(["still", null, null]);
    await runner.close();
  },
);
