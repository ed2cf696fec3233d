interface Known<T> {
  answer: T | Promise<T>;
  /** Milliseconds since 1970. */
  until: number;
  isAskedAgain: boolean;
}

/**
 * Remembers answers for a while, so that who asks often is answered at once. Half of that time before an answer is
 * forgotten it is asked for again, meanwhile nobody waits; when that fails, or is not to be kept, it is forgotten there
 * and then.
 * @param keepMs how old an answer is at most
 * @param max answers at once: a bound on the memory of those that nobody asks for again
 * @param isKept whether an answer may be remembered at all
 */
export function createCache<T extends object>(
  { keepMs, max }: { keepMs: number; max: number },
  isKept: (answer: T) => boolean,
  clock: () => number = Date.now,
): (key: string, find: () => Promise<T>) => T | Promise<T> {
  const known = new Map<string, Known<T>>();

  return (key, find) => {
    const now = clock();
    const found = known.get(key);
    if (!found || now >= found.until) return ask(key, find, now, null);
    if (now >= found.until - keepMs / 2 && !found.isAskedAgain) {
      found.isAskedAgain = true;
      ask(key, find, now, found).catch(() => {});
    }
    return found.answer;
  };

  /** @param before what is answered meanwhile; null: who asks waits */
  function ask(key: string, find: () => Promise<T>, now: number, before: Known<T> | null): Promise<T> {
    const finding = find();
    const asked: Known<T> = { answer: finding, until: now + keepMs, isAskedAgain: false };
    if (known.size >= max) known.clear();
    const current = before ?? asked;
    known.set(key, current);
    const forget = () => known.get(key) === current && known.delete(key);
    finding.then((answer) => {
      if (!isKept(answer)) return forget();
      asked.answer = answer;
      return known.get(key) === current && known.set(key, asked);
    }, forget);
    return finding;
  }
}
