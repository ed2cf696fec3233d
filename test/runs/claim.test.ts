import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "bun:test";
import { eq, type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { runs } from "../../db/schema/index.ts";
import { claimRun, dropOwnClaims, renewPeriodically, withClaim } from "../../src/features/runs/claim.ts";
import { openSessionRow } from "../helpers/session-row.ts";
import { until } from "../helpers/until.ts";

let database: Database;
let sessionId: string;

beforeAll(async () => {
  ({ database, sessionId } = await openSessionRow());
});
afterAll(() => database.close());

const claim = (id = sessionId) => claimRun({ db: database.db }, id);
const set = (values: { worker?: string | null; workerUntil?: SQL | null; place?: string }) =>
  database.db.update(runs).set(values).where(eq(runs.runId, sessionId));
/** Who has the claim, and for how many seconds from now. */
async function holder() {
  const rows = await database.db
    .select({
      worker: runs.worker,
      seconds: sql<number>`extract(epoch from worker_until - now())::float`,
    })
    .from(runs)
    .where(eq(runs.runId, sessionId));
  return rows[0] ?? { worker: null, seconds: 0 };
}

test("one of many workers claims a session, until it releases it", async () => {
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
  const taken = claims.filter((one) => one !== null);
  expect(taken.length).toBe(1);
  expect(await claim()).toBeNull();
  await taken[0]?.release();
  const next = await claim();
  expect(next).not.toBeNull();
  // who has let go does not take it from the next
  await taken[0]?.release();
  expect(await claim()).toBeNull();
  await next?.release();
});

test("a dead worker loses its claim, and cannot release the claim of another", async () => {
  const dead = await claim();
  await set({ workerUntil: sql`now() - interval '1 second'` });
  const next = await claim();
  expect(next).not.toBeNull();
  await dead?.release();
  expect(await claim()).toBeNull();
  await next?.release();
});

test("a deleted session has no claims", async () => {
  expect(await claim(crypto.randomUUID())).toBeNull();
});

test("withClaim runs only for the holder, and releases the claim also after an error", async () => {
  const done: string[] = [];
  const work = (name: string, then?: () => Promise<void>) =>
    withClaim({ db: database.db }, sessionId, async () => {
      done.push(name);
      await then?.();
    });
  const fails = work("first", async () => {
    await work("second");
    throw new Error("it fails");
  });
  await expect(fails).rejects.toThrow("it fails");
  await work("third");
  expect(done).toEqual(["first", "third"]);
});

test("a server that starts releases only the claims of its own sessions", async () => {
  for (const [serverId, isDropped] of [
    ["another", false],
    ["mine", true],
  ] as const) {
    const taken = await claim();
    await set({ place: "mine" });
    await dropOwnClaims({ db: database.db, serverId });
    expect([serverId, (await holder()).worker === null]).toEqual([serverId, isDropped]);
    await taken?.release();
  }
});

describe("renewal", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  type Answer = "yes" | "no" | "fails" | "late" | "never";
  const SOON: Answer[] = ["yes", "yes", "yes", "yes", "yes", "yes"];
  test.each<[rule: string, answers: Answer[], lostAfter: number[]]>([
    ["a claim that is renewed each time is kept", SOON, []],
    ["one whose renewal is refused ends when it expires", ["no", "no", "no", "yes"], [12]],
    ["one whose renewal fails ends when it expires", ["fails", "fails", "fails", "yes"], [12]],
    ["one whose renewal hangs ends when it expires", ["never", "never", "never", "yes"], [12]],
    ["one that is refused briefly is kept", ["no", "fails", "yes", "no", "never", ...SOON], []],
    ["it lasts from the last renewal", ["yes", "no", "yes", "fails", "no", "no", "no"], [21]],
    ["it lasts from the start of the renewal", ["late", "no", "no", "no", "no", "no"], [15]],
  ])("%s", async (_, answers, lostAfter) => {
    jest.useFakeTimers();
    const left = [...answers];
    const renewal = renewPeriodically(async () => {
      const answer = left.shift();
      if (answer === "fails") throw new Error("the database is gone");
      if (answer === "never") await new Promise<never>(() => {});
      if (answer === "late") await new Promise((resolve) => setTimeout(resolve, 5_000));
      return answer === "yes" || answer === "late";
    }, performance.now());
    const lost: number[] = [];
    renewal.signal.onabort = () => {
      lost.push((performance.now() - begun) / 1000);
    };
    const begun = performance.now();
    for (let second = 0; second < 3 * answers.length; second++) {
      jest.advanceTimersByTime(1000);
      await settle();
    }
    expect(lost).toEqual(lostAfter);
    renewal.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  test("a claim that took long to get expires earlier", () => {
    jest.useFakeTimers();
    const asked = performance.now();
    jest.advanceTimersByTime(10_000);
    const renewal = renewPeriodically(async () => false, asked);
    jest.advanceTimersByTime(1_999);
    expect(renewal.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(renewal.signal.aborted).toBe(true);
  });

  test("a released or lost claim stays so, also after a late renewal", async () => {
    jest.useFakeTimers();
    let asked = 0;
    const answers: ((isRenewed: boolean) => void)[] = [];
    const start = () =>
      renewPeriodically(() => {
        asked++;
        return new Promise((resolve) => answers.push(resolve));
      }, performance.now());
    const [given, lost] = [start(), start()];
    jest.advanceTimersByTime(3_000);
    given.stop();
    jest.advanceTimersByTime(9_000);
    const before = asked;
    for (const answer of answers) answer(true);
    await settle();
    jest.advanceTimersByTime(60_000);
    expect([given.signal.aborted, lost.signal.aborted]).toEqual([false, true]);
    expect([asked, jest.getTimerCount()]).toEqual([before, 0]);
  });

  test("a renewal extends the claim to its full time, also in the database", async () => {
    jest.useFakeTimers();
    const mine = await claim();
    expect((await holder()).seconds).toBeWithin(0, 12.001);
    await set({ workerUntil: sql`now() + interval '1 second'` });
    jest.advanceTimersByTime(3_000);
    jest.useRealTimers();
    await until("it is renewed", async () => (await holder()).seconds > 2);
    await mine?.release();
    expect((await holder()).worker).toBeNull();
  });

  test("a claim that another worker had meanwhile is not renewed, even if it is free again", async () => {
    jest.useFakeTimers();
    const mine = await claim();
    await set({ worker: null, workerUntil: null });
    jest.advanceTimersByTime(3_000);
    // by the last of these answers the renewal has its own
    for (let asked = 0; asked < 5; asked++) expect((await holder()).worker).toBeNull();
    await mine?.release();
  });

  /** Lets go on what waits for what has happened already. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
});
