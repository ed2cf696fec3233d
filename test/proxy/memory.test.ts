import { expect, test } from "bun:test";
import { createCache } from "../../src/lib/cache.ts";

/** A memory of one second with a clock of our own, and the questions that were asked. */
function memory(isKept: (answer: { n: number }) => boolean = () => true) {
  const asked: PromiseWithResolvers<{ n: number }>[] = [];
  let now = 0;
  const ask = createCache({ keepMs: 1000, max: 3 }, isKept, () => now);
  return {
    asked,
    at(ms: number) {
      now = ms;
    },
    ask: (key = "key") =>
      ask(key, () => {
        const question = Promise.withResolvers<{ n: number }>();
        asked.push(question);
        return question.promise;
      }),
    async answer(index: number, n: number) {
      asked[index]?.resolve({ n });
      await Bun.sleep(0);
    },
    async fail(index: number) {
      asked[index]?.reject(new Error("no"));
      await Bun.sleep(0);
    },
  };
}

test("concurrent requests share one answer, and later ones get it at once", async () => {
  const { ask, answer, asked } = memory();
  const both = [ask(), ask()];
  await answer(0, 1);
  expect(await Promise.all(both)).toEqual([{ n: 1 }, { n: 1 }]);
  expect(ask()).toEqual({ n: 1 });
  expect(asked).toHaveLength(1);
});

test("refreshes an answer once in the second half of its time, without a wait", async () => {
  const { ask, answer, asked, at } = memory();
  void ask();
  await answer(0, 1);
  at(499);
  expect([ask(), asked.length]).toEqual([{ n: 1 }, 1]);
  at(500);
  expect([ask(), ask(), asked.length]).toEqual([{ n: 1 }, { n: 1 }, 2]);
  await answer(1, 2);
  expect(ask()).toEqual({ n: 2 });
  at(1499);
  expect(ask()).toEqual({ n: 2 });
});

test("an answer is never older than its time, however long the next one takes", async () => {
  const { ask, answer, at } = memory();
  void ask();
  await answer(0, 1);
  at(600);
  void ask();
  at(1000);
  expect(ask()).toBeInstanceOf(Promise);
  // the request of 600 is answered last, and its answer is ignored
  await answer(2, 3);
  await answer(1, 2);
  expect(ask()).toEqual({ n: 3 });
});

test("an error is not cached, and removes the cached answer", async () => {
  const { ask, answer, asked, at, fail } = memory();
  const first = ask();
  await fail(0);
  expect(first).rejects.toThrow("no");
  void ask();
  await answer(1, 1);
  at(700);
  expect(ask()).toEqual({ n: 1 });
  await fail(2);
  expect(ask()).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(4);
});

test("an answer that must not be cached is returned to the waiting requests only", async () => {
  const { ask, answer, asked, at } = memory(({ n }) => n > 0);
  const first = ask();
  await answer(0, 0);
  expect(await first).toEqual({ n: 0 });
  void ask();
  await answer(1, 1);
  at(500);
  void ask();
  await answer(2, 0);
  expect(ask()).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(4);
});

test("limits the number of cached answers", async () => {
  const { ask, answer, asked } = memory();
  for (const [index, key] of ["a", "b", "c", "d"].entries()) {
    void ask(key);
    await answer(index, index);
  }
  expect(ask("d")).toEqual({ n: 3 });
  expect(ask("a")).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(5);
});
