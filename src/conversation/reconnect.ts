/** When a client of a stream reconnects, and when it gives up. */
export interface ReconnectPolicy {
  /** Silence after which a connection is considered dead. */
  silentSeconds: number;
  /** The first delay before a reconnect; it doubles up to `maxDelayMs`. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** Time without a connection after which the client gives up. */
  giveUpMs: number;
}

/** Waits. `signal` ends it early. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal?.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
