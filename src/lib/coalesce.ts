export type Share<T> = (key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Runs one piece of work per key at a time. A caller never gets the result of a run that began before its call: while
 * one runs, all later callers share the next run, which begins when the current one has ended.
 */
export function createShare<T>(): Share<T> {
  const lanes = new Map<string, { running: Promise<T>; next: Promise<T> | null }>();

  return (key, work) => {
    const lane = lanes.get(key);
    if (!lane) return start(key, work);
    if (!lane.next) {
      const begin = () => start(key, work);
      lane.next = lane.running.then(begin, begin);
    }
    return lane.next;
  };

  function start(key: string, work: () => Promise<T>): Promise<T> {
    const lane = { running: work(), next: null };
    lanes.set(key, lane);
    const end = () => {
      if (lanes.get(key) === lane && !lane.next) lanes.delete(key);
    };
    lane.running.then(end, end);
    return lane.running;
  }
}
