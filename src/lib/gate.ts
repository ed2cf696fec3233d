import { SvcError } from "../contract/errors.ts";

export interface GateLimits {
  /** Slots, in all and for one key. */
  total: number;
  perKey: number;
  /** The size of the queue, in all and for one key, and the longest wait (milliseconds). */
  queue: number;
  queuePerKey: number;
  waitMs: number;
}

/** @param signal ends the wait, not the work */
export type Gate = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Limits how much work runs at a time, in the order of arrival, in all and for one key: a repository whose merges hang
 * takes only its own slots. Throws `unavailable` with `Retry-After` when the queue is full or the wait is too long,
 * and when the signal is aborted during the wait.
 * @param what waits, in the plural, for the error
 */
export function createGate(limits: GateLimits, what = "git operations"): Gate {
  const inside = new Map<string, number>();
  const waiting: { key: string; enter: () => void }[] = [];
  let total = 0;

  return async (key, work, signal) => {
    if (mayEnter(key)) enter(key);
    else await wait(key, signal);
    try {
      return await work();
    } finally {
      leave(key);
    }
  };

  function mayEnter(key: string): boolean {
    return total < limits.total && (inside.get(key) ?? 0) < limits.perKey;
  }

  function enter(key: string): void {
    total++;
    inside.set(key, (inside.get(key) ?? 0) + 1);
  }

  async function wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const ahead = waiting.filter((waiter) => waiter.key === key).length;
    if (waiting.length >= limits.queue || ahead >= limits.queuePerKey) throw busy(what);
    if (signal?.aborted) throw gone();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { key, enter: resolve };
    const giveUp = (error: SvcError) => {
      waiting.splice(waiting.indexOf(waiter), 1);
      reject(error);
    };
    const timer = setTimeout(() => giveUp(busy(what)), limits.waitMs);
    const onAbort = () => giveUp(gone());
    signal?.addEventListener("abort", onAbort);
    waiting.push(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    }
  }

  function leave(key: string): void {
    total--;
    const left = (inside.get(key) ?? 1) - 1;
    if (left === 0) inside.delete(key);
    else inside.set(key, left);
    for (let index = 0; index < waiting.length && total < limits.total; ) {
      const waiter = waiting[index];
      if (!waiter || !mayEnter(waiter.key)) {
        index++;
        continue;
      }
      waiting.splice(index, 1);
      // the slot is taken here, not when the waiter wakes up, so that no other caller can take it
      enter(waiter.key);
      waiter.enter();
    }
  }
}

/** Work that continues after its answer. */
export interface Begun<T> {
  answer: T;
  /** Settles when all work has ended. An error here is also reported by the answer. */
  ended: Promise<unknown>;
}

/** Like the gate itself, for work that continues after its answer: holds the slot until the work has ended. */
export function holdSlot<T>(gate: Gate, key: string, begin: () => Promise<Begun<T>>): Promise<Begun<T>> {
  const begun = Promise.withResolvers<Begun<T>>();
  const over = gate(key, async () => {
    const work = await begin();
    begun.resolve({ answer: work.answer, ended: over });
    await work.ended;
  });
  over.catch(begun.reject);
  return begun.promise;
}

function busy(what: string): SvcError {
  return new SvcError(
    "unavailable",
    `Too many ${what} are waiting. Try again in a moment.`,
    {},
    { "Retry-After": "1" },
  );
}

function gone(): SvcError {
  return new SvcError("unavailable", "The client disconnected while its request was waiting.");
}
