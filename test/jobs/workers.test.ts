import { expect, test } from "bun:test";
import { createWorkers } from "../../src/jobs/workers.ts";

type Handler = (jobs: { singletonKey: string | null; signal: AbortSignal }[]) => Promise<void>;

/** pg-boss, whose workers have a job when the test gives them one. */
function startBoss() {
  const handlers = new Map<string, Handler>();
  const woken: string[] = [];
  const boss = {
    async work(_queue: string, _options: object, handler: Handler) {
      const id = `worker ${handlers.size + 1}`;
      handlers.set(id, handler);
      return id;
    },
    notifyWorker: (id: string) => void woken.push(id),
    async offWork() {},
  };
  const give = (id: string, key: string) =>
    handlers.get(id)?.([{ singletonKey: key, signal: new AbortController().signal }]);
  return { boss, give, count: () => handlers.size, woken: () => woken.splice(0) };
}

test("a queue has one worker until that one has a job, then one more for each job, up to its limit", async () => {
  const { boss, give, count, woken } = startBoss();
  const stopping = new AbortController();
  const workers = createWorkers(boss, 60, stopping.signal);
  const running = new Map<string, () => void>();
  await workers.start("runs", (key) => new Promise((end) => running.set(key, end)), 3);
  expect(count()).toBe(1);

  workers.wakeOne("runs");
  expect([count(), woken()]).toEqual([1, ["worker 1"]]);

  const first = give("worker 1", "a");
  expect([count(), woken()]).toEqual([2, []]);
  await Promise.resolve();
  workers.wakeOne("runs");
  expect([count(), woken()]).toEqual([2, ["worker 2"]]);

  const others = [give("worker 2", "b")];
  await Promise.resolve();
  others.push(give("worker 3", "c"));
  workers.wakeOne("runs");
  expect([count(), woken()]).toEqual([3, []]);

  running.get("a")?.();
  await first;
  expect(woken()).toEqual(["worker 1"]);
  workers.wakeOne("runs");
  expect([count(), woken()]).toEqual([3, ["worker 1"]]);
  running.get("b")?.();
  running.get("c")?.();
  await Promise.all(others);
});

test("waking all workers starts one more, which may reach a database that does not answer the others", async () => {
  const { boss, count, woken } = startBoss();
  const stopping = new AbortController();
  const workers = createWorkers(boss, 60, stopping.signal);
  await workers.start("runs", async () => {}, 2);
  for (const [workersThen, notified] of [
    [2, ["worker 1"]],
    [2, ["worker 1", "worker 2"]],
  ] as const) {
    workers.wakeAll("runs");
    expect([count(), woken()]).toEqual([workersThen, [...notified]]);
    await Promise.resolve();
  }
});

test("no worker starts once the server stops", async () => {
  const { boss, give, count } = startBoss();
  const stopping = new AbortController();
  const workers = createWorkers(boss, 60, stopping.signal);
  await workers.start("runs", async () => {}, 10);
  stopping.abort();
  await give("worker 1", "a");
  workers.wakeAll("runs");
  expect(count()).toBe(1);
});
