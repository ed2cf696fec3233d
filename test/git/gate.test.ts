import { expect, test } from "bun:test";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { createGate } from "../../src/lib/gate.ts";

const LIMITS = { total: 3, perKey: 2, queue: 5, queuePerKey: 3, waitMs: WAIT_LIMIT_MS };

test("runs at most as many as allowed, per key and in total, in order", async () => {
  const gate = createGate(LIMITS);
  const inside: string[] = [];
  const order: string[] = [];
  let most = 0;
  const work = (key: string, name: string) =>
    gate(key, async () => {
      inside.push(key);
      order.push(name);
      most = Math.max(most, inside.length);
      expect(inside.filter((other) => other === key).length).toBeLessThanOrEqual(2);
      await Bun.sleep(5);
      inside.splice(inside.indexOf(key), 1);
    });
  await Promise.all([
    work("a", "a1"),
    work("a", "a2"),
    work("a", "a3"),
    work("b", "b1"),
    work("b", "b2"),
    work("c", "c1"),
  ]);
  expect(most).toBe(3);
  // a3 waits for a place of its own repository, b1 does not wait behind it
  expect(order).toEqual(["a1", "a2", "b1", "a3", "b2", "c1"]);
});

test("a full queue and a long wait are unavailable", async () => {
  const gate = createGate({ ...LIMITS, total: 1, waitMs: 50 }, "connector calls");
  let end = () => {};
  const first = gate("a", () => new Promise<void>((resolve) => (end = resolve)));
  const waiting = Array.from({ length: 4 }, () => gate("a", async () => {}));
  const reasons = (await Promise.allSettled(waiting)).map((result) =>
    result.status === "rejected" ? result.reason : "ran",
  );
  expect(reasons.map(({ code }) => code)).toEqual(Array(4).fill("unavailable"));
  expect(reasons[0].message).toContain("Too many connector calls are waiting.");
  end();
  await first;
  // those who gave up hold no place
  expect(await gate("a", async () => "in")).toBe("in");
});

test("a wait ends with the signal of its caller, and leaves the queue", async () => {
  const gate = createGate({ ...LIMITS, total: 1, queuePerKey: 1 });
  let end = () => {};
  const first = gate("a", () => new Promise<void>((resolve) => (end = resolve)));
  const closed = new AbortController();
  const wait = () => gate("a", async () => "ran", closed.signal);
  const waiting = wait();
  closed.abort();
  // the only place in the queue is free
  const all = Promise.allSettled([waiting, wait(), gate("a", async () => "other")]);
  end();
  await first;
  const gone = {
    status: "rejected",
    reason: { code: "unavailable", message: expect.stringContaining("client") },
  };
  expect(await all).toMatchObject([gone, gone, { status: "fulfilled", value: "other" }]);
});

test("a signal that is aborted after the wait changes nothing", async () => {
  const gate = createGate({ ...LIMITS, total: 1 });
  let end = () => {};
  const first = gate("a", () => new Promise<void>((resolve) => (end = resolve)));
  const closed = new AbortController();
  const running = Promise.withResolvers<string>();
  const waited = gate("a", () => running.promise, closed.signal);
  const last = gate("a", async () => "last");
  end();
  await first;
  closed.abort();
  running.resolve("ran");
  expect(await Promise.all([waited, last])).toEqual(["ran", "last"]);
});

test("work that fails releases its slot", async () => {
  const gate = createGate({ ...LIMITS, total: 1 });
  for (let round = 0; round < 3; round++)
    expect(gate("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await gate("a", async () => 1)).toBe(1);
});
