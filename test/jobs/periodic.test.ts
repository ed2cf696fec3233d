import { expect, test } from "bun:test";
import pino from "pino";
import { runPeriodically } from "../../src/jobs/periodic.ts";
import { Changes } from "../../src/lib/changes.ts";
import { until } from "../helpers/until.ts";

/** An interval that no test lives to see the end of. */
const NEVER_MS = 2 ** 30;

/** Rounds whose outcome the test sets. */
function startRounds(intervals: { busyMs: number; idleMs: number }) {
  const changes = new Changes();
  const state = { rounds: 0, isBusy: false, fails: false };
  const work = async () => {
    state.rounds++;
    if (state.fails) throw new Error("the database is down");
    return state.isBusy;
  };
  const rounds = { subject: "runs", wakers: ["one", "other"], work: [work] };
  const stop = runPeriodically({ changes, log: pino({ level: "silent" }) }, rounds, intervals);
  const after = (count: number) => until(`round ${count}`, () => state.rounds >= count);
  return { changes, state, stop, after };
}

test("work that finds nothing runs once, and again when a waker or its subject is notified", async () => {
  const { changes, state, stop, after } = startRounds({ busyMs: 1, idleMs: NEVER_MS });
  await after(1);
  for (const [index, name] of ["runs", "one", "other", "runs"].entries()) {
    expect(state.rounds).toBe(index + 1);
    changes.notify(name);
    await after(index + 2);
  }
  changes.notify("a name that it does not wait for");
  await stop();
  expect(state.rounds).toBe(5);
});

test("work that finds something repeats until it finds nothing", async () => {
  const { changes, state, stop, after } = startRounds({ busyMs: 1, idleMs: NEVER_MS });
  await after(1);
  state.isBusy = true;
  changes.notify("one");
  await after(10);
  state.isBusy = false;
  await stop();
});

test("work that fails is repeated soon, like work that finds something", async () => {
  const { changes, state, stop, after } = startRounds({ busyMs: 1, idleMs: NEVER_MS });
  await after(1);
  state.fails = true;
  changes.notify("runs");
  await after(10);
  await stop();
});

test("a waker does not shorten the interval of busy rounds; the subject does", async () => {
  const { changes, state, stop, after } = startRounds({ busyMs: NEVER_MS, idleMs: NEVER_MS });
  state.isBusy = true;
  await after(1);
  for (let burst = 0; burst < 100; burst++) changes.notify("one");
  changes.notify("runs");
  await after(2);
  await stop();
  expect(state.rounds).toBe(2);
});

test("a notification during a round is not lost", async () => {
  const changes = new Changes();
  let rounds = 0;
  const work = async () => {
    if (++rounds === 1) changes.notify("one");
    return false;
  };
  const intervals = { busyMs: 1, idleMs: NEVER_MS };
  const log = pino({ level: "silent" });
  const stop = runPeriodically(
    { changes, log },
    { subject: "runs", wakers: ["one"], work: [work] },
    intervals,
  );
  await until("a second round", () => rounds === 2);
  await stop();
});
