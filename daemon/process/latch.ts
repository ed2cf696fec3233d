/** A condition that becomes true once. */
export class Latch {
  readonly #opened = Promise.withResolvers<void>();

  open(): void {
    this.#opened.resolve();
  }

  /** Waits until it is open, or the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#opened.promise, aborted(signal)]);
  }
}

/** Waits until a signal is aborted. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
