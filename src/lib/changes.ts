/**
 * Notifies waiters in this process of changes, by name. Those of other servers arrive over the database, which may lose
 * them with its connection, so waiters must also poll.
 */
export class Changes {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes all waiters for a name. */
  notify(name: string): void {
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const wake of waiting ?? []) wake();
  }

  /** Wakes all waiters: notifications may have been lost. */
  notifyAll(): void {
    for (const name of [...this.#waiting.keys()]) this.notify(name);
  }

  /** Resolves at the next change of one of the names, after `ms`, or when the signal is aborted. */
  async wait(name: string | readonly string[], ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const names = typeof name === "string" ? [name] : name;
    for (const each of names) this.#waiting.set(each, (this.#waiting.get(each) ?? new Set()).add(resolve));
    const timer = setTimeout(resolve, ms);
    const onAbort = () => resolve();
    signal?.addEventListener("abort", onAbort);
    await promise;
    clearTimeout(timer);
    // a signal may be used for many waits
    signal?.removeEventListener("abort", onAbort);
    for (const each of names) {
      const waiting = this.#waiting.get(each);
      if (waiting?.delete(resolve) && waiting.size === 0) this.#waiting.delete(each);
    }
  }
}
