import { SvcError } from "../contract/errors.ts";

export interface GateLimits {
  /** How many may be inside, in all and under one key. */
  total: number;
  perKey: number;
  /** How many may wait, in all and under one key, and for how long (milliseconds). */
  queue: number;
  queuePerKey: number;
  waitMs: number;
}

export type Gate = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Lets a bounded number of pieces of work run at a time, in the order they came, and no more than `perKey` of one key:
 * a repository whose merges hang takes its own places, not those of the others.
 * The gate throws `unavailable` with `Retry-After` when its queue is full or the wait was too long.
 */
export function createGate(limits: GateLimits): Gate {
  const inside = new Map<string, number>();
  const waiting: { key: string; enter: () => void }[] = [];
  let total = 0;

  return async (key, work) => {
    if (mayEnter(key)) enter(key);
    else await wait(key);
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

  async function wait(key: string): Promise<void> {
    const ahead = waiting.filter((waiter) => waiter.key === key).length;
    if (waiting.length >= limits.queue || ahead >= limits.queuePerKey) throw busy();
    await new Promise<void>((resolve, reject) => {
      const waiter = { key, enter: () => {} };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(busy());
      }, limits.waitMs);
      waiter.enter = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(waiter);
    });
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
      // the place is taken here, not when the waiter wakes up: nobody can slip in between
      enter(waiter.key);
      waiter.enter();
    }
  }
}

/** Work whose first part is an answer, and which goes on afterwards. */
export interface Begun<T> {
  answer: T;
  /** Settles when all of it is over; never with an error that the answer does not tell. */
  ended: Promise<unknown>;
}

/** Like the gate itself, for work that goes on after its answer: the place is held until it is over. */
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

function busy(): SvcError {
  const message = "Too many git operations are waiting. Try again in a moment.";
  return new SvcError("unavailable", message, {}, { "Retry-After": "1" });
}
