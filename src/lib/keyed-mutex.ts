import { SvcError } from "../contract/errors.ts";

/** Callers that wait for one key; a merge takes well under a second, so the last one waits about a minute. */
const WAITING_MAX = 100;

/**
 * Runs work under one key one after the other in this process, such as the merges into one branch. It only saves work:
 * between processes, the push's compare-and-swap decides.
 */
export class KeyedMutex {
  private readonly queues = new Map<string, { last: Promise<unknown>; length: number }>();

  /** @throws unavailable when too many are waiting. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length > WAITING_MAX) {
      throw new SvcError(
        "unavailable",
        "Too many requests are waiting to change the same thing. Try again in a moment.",
        {},
        { "Retry-After": "10" },
      );
    }
    queue.length++;
    this.queues.set(key, queue);
    const result = queue.last.then(work, work);
    queue.last = result;
    try {
      return await result;
    } finally {
      if (--queue.length === 0) this.queues.delete(key);
    }
  }
}
