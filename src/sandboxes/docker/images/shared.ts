/** A caller that waits for shared work. */
interface Waiter {
  log(line: string): void;
  signal: AbortSignal;
}

type Work = (log: (line: string) => void, signal: AbortSignal) => Promise<void>;

interface Running {
  waiters: Set<Waiter>;
  lines: string[];
  abort: AbortController;
  done: Promise<void>;
}

/** The last lines, for callers that join late. */
const LINES_KEPT = 200;

/**
 * Shares work among concurrent callers with the same key. Each caller gets its log and can leave; when the last one has
 * left, the work is aborted.
 */
export function createShared(): (key: string, waiter: Waiter, work: Work) => Promise<void> {
  const running = new Map<string, Running>();

  return async (key, waiter, work) => {
    waiter.signal.throwIfAborted();
    const shared = running.get(key) ?? begin(key, work);
    for (const line of shared.lines) waiter.log(line);
    shared.waiters.add(waiter);
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = () => {
      shared.waiters.delete(waiter);
      if (shared.waiters.size === 0) {
        // the next caller starts over
        if (running.get(key) === shared) running.delete(key);
        shared.abort.abort();
      }
      // an aborted build must end before its network is removed
      if (shared.waiters.size === 0) shared.done.catch(() => {}).then(() => reject(waiter.signal.reason));
      else reject(waiter.signal.reason);
    };
    waiter.signal.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([shared.done, left]);
      waiter.signal.throwIfAborted();
    } catch (error) {
      waiter.signal.throwIfAborted();
      throw error;
    } finally {
      waiter.signal.removeEventListener("abort", leave);
      shared.waiters.delete(waiter);
    }
  };

  function begin(key: string, work: Work): Running {
    const waiters = new Set<Waiter>();
    const lines: string[] = [];
    const abort = new AbortController();
    const log = (line: string) => {
      lines.push(line);
      if (lines.length > LINES_KEPT) lines.shift();
      for (const waiter of waiters) waiter.log(line);
    };
    // starts after the first caller has joined
    const done = Promise.resolve().then(() => work(log, abort.signal));
    const shared: Running = { waiters, lines, abort, done };
    running.set(key, shared);
    const end = () => {
      if (running.get(key) === shared) running.delete(key);
    };
    done.then(end, end);
    return shared;
  }
}
