/** How long a client waits for a stream. */
export interface Patience {
  /** Silence after which a connection counts as dead. */
  silentSeconds: number;
  /** The first pause before a new connection; it doubles up to the last one. */
  firstPauseMs: number;
  lastPauseMs: number;
  /** Time without any connection after which it is given up. */
  lostMs: number;
}

/** A pause, which `signal` ends early. */
export async function rest(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}

/** Does something later, unless there is no reason any more to be there. */
export function later(ms: number, work: () => void): void {
  const timer: unknown = setTimeout(work, ms);
  // a program would stay for it; in a browser it is a number
  if (typeof timer === "object" && timer !== null && "unref" in timer)
    Reflect.apply(Object(timer.unref), timer, []);
}
