import { expect, test } from "bun:test";
import { createBatches } from "../../src/lib/batch.ts";

/** Batches that end when the test lets them. */
function held(max: number) {
  const begun: { items: readonly number[]; end(results: readonly number[]): void; fail(): void }[] = [];
  const add = createBatches(max, (items: readonly number[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    begun.push({ items, end: resolve, fail: () => reject(new Error("it failed")) });
    return promise;
  });
  const settled = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { begun, add, settled };
}

const double = (items: readonly number[]) => items.map((item) => item * 2);

test("an item alone begins at once; those that come meanwhile share the next batch, up to the most", async () => {
  const { begun, add, settled } = held(3);
  const results = [1, 2, 3, 4, 5].map(add);
  expect(begun.map(({ items }) => items)).toEqual([[1]]);
  begun[0]?.end([2]);
  await settled();
  expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
  begun[1]?.end(double([2, 3, 4]));
  await settled();
  begun[2]?.end([10]);
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10]);
  const later = add(6);
  expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3, 4], [5], [6]]);
  begun[3]?.end([12]);
  expect(await later).toBe(12);
});

test("after a batch that fails, each of its items is tried alone", async () => {
  const tried: (readonly number[])[] = [];
  const add = createBatches(9, async (items: readonly number[]) => {
    tried.push(items);
    if (items.includes(3)) throw new Error("three");
    return double(items);
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map(add));
  expect(
    results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason))),
  ).toEqual([2, 4, "Error: three", 8]);
  expect(tried).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
  const two = await Promise.allSettled([5, 3, 6].map(add));
  expect(two.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("an item without a result is an error", async () => {
  const add = createBatches(9, async (): Promise<readonly number[]> => []);
  expect(await add(1).catch(String)).toBe("Error: a batch has no result for an item");
});
