/**
 * Does work for each item, several at a time: a slow one does not delay the others. It must not throw.
 * @param signal items after its abort are left out
 */
export async function inParallel<Item>(
  items: Iterable<Item>,
  atOnce: number,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const one = async () => {
    for (let next = left.next(); !next.done && !signal.aborted; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
