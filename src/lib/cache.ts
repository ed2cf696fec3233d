interface Known<T> {
  answer: T | Promise<T>;
  /** Milliseconds since 1970. */
  until: number;
  isRefreshing: boolean;
}

/**
 * Caches answers for `keepMs`. A request in the second half of that time refreshes the answer in the background; when the
 * refresh fails, or its answer is not to be kept, the entry is removed.
 * @param max the most entries
 * @param isKept whether an answer may be cached
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
    if (now >= found.until - keepMs / 2 && !found.isRefreshing) {
      found.isRefreshing = true;
      ask(key, find, now, found).catch(() => {});
    }
    return found.answer;
  };

  /** @param before the answer until then; null: the caller waits */
  function ask(key: string, find: () => Promise<T>, now: number, before: Known<T> | null): Promise<T> {
    const finding = find();
    const asked: Known<T> = { answer: finding, until: now + keepMs, isRefreshing: false };
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
