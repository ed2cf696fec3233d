/**
 * Collects items while a batch of earlier ones is in progress, so that many at once need a few statements, and one alone
 * does not wait. If a batch of several items fails, each is tried alone: one must not fail the others.
 * @param max the most items of one batch
 * @param run processes a batch. @returns a result for each item, in order
 */
export function createBatches<Item, Result>(
  max: number,
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  interface Waiting extends PromiseWithResolvers<Result> {
    item: Item;
  }
  const waiting: Waiting[] = [];
  let isRunning = false;

  return async (item) => {
    const entry = { item, ...Promise.withResolvers<Result>() };
    waiting.push(entry);
    if (!isRunning) void work();
    return await entry.promise;
  };

  async function work(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) await settle(waiting.splice(0, max));
    isRunning = false;
  }

  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result === undefined) reject(new Error("a batch has no result for an item"));
        else resolve(result);
      }
    } catch (error) {
      if (batch.length > 1) for (const entry of batch) await settle([entry]);
      else for (const { reject } of batch) reject(error);
    }
  }
}
