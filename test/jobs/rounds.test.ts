import { expect, test } from "bun:test";
import pino from "pino";
import { runRounds } from "../../src/jobs/rounds.ts";
import { Changes } from "../../src/lib/changes.ts";
import { until } from "../helpers/until.ts";

/** An interval that no test lives to see the end of. */
const NEVER_MS = 2 ** 30;

/** Rounds whose outcome the test sets. */
function startRounds(intervals: { trimMs?: number; backoffMs?: number } = {}) {
  const changes = new Changes();
  const state = { rounds: 0, trims: 0, nextMs: NEVER_MS, fails: false };
  const stop = runRounds(
    { changes, log: pino({ level: "silent" }) },
    {
      subject: "webhooks",
      wakers: ["one", "other"],
      round: async () => {
        state.rounds++;
        if (state.fails) throw new Error("the database is down");
        return state.nextMs;
      },
      trim: async () => void state.trims++,
      ...{ trimMs: NEVER_MS, backoffMs: NEVER_MS, ...intervals },
    },
  );
  const after = (count: number) => until(`round ${count}`, () => state.rounds >= count);
  return { changes, state, stop, after };
}

test("a round follows each notification of a waker, and no other", async () => {
  const { changes, state, stop, after } = startRounds();
  await after(1);
  for (const [index, name] of ["one", "other", "one"].entries()) {
    expect(state.rounds).toBe(index + 1);
    changes.notify(name);
    await after(index + 2);
  }
  changes.notify("a name that it does not wait for");
  await stop();
  expect([state.rounds, state.trims]).toEqual([4, 0]);
});

test("a round follows when the one before says so", async () => {
  const { changes, state, stop, after } = startRounds();
  await after(1);
  state.nextMs = 0;
  changes.notify("one");
  await after(10);
  state.nextMs = NEVER_MS;
  await stop();
});

test("a round that fails is repeated after the backoff, and stops no later one", async () => {
  const { changes, state, stop, after } = startRounds({ backoffMs: 1 });
  await after(1);
  state.fails = true;
  changes.notify("one");
  await after(10);
  state.fails = false;
  await stop();
});

test("what is old is removed when it is time, after a round that has not failed", async () => {
  const { changes, state, stop, after } = startRounds({ trimMs: -1 });
  await after(1);
  await until("it is removed", () => state.trims === 1);
  state.fails = true;
  changes.notify("one");
  await after(2);
  await stop();
  expect(state.trims).toBe(1);
});

test("a stop waits for the round in progress", async () => {
  const [began, goesOn] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()];
  const stop = runRounds(
    { changes: new Changes(), log: pino({ level: "silent" }) },
    {
      ...{ subject: "webhooks", wakers: [], trim: async () => {}, trimMs: NEVER_MS, backoffMs: 1 },
      async round(signal) {
        began.resolve(signal);
        await goesOn.promise;
        return 0;
      },
    },
  );
  const signal = await began.promise;
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await Bun.sleep(0);
  expect([signal.aborted, isStopped]).toEqual([true, false]);
  goesOn.resolve();
  await stopped;
});
