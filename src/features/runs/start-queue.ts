interface Waiting {
  enter(): void;
  /** @param before the number of others before it */
  onMove(before: number): void;
}

/** The sandboxes that a server starts at once, since each keeps a processor busy. The others wait in their order. */
export class StartQueue {
  readonly #waiting: Waiting[] = [];
  #free: number;

  /** @param size how many start at once */
  constructor(size: number) {
    this.#free = size;
  }

  /**
   * Waits for a place.
   * @param onMove called with the number of those before it, at first and whenever it changes
   * @returns gives the place back; may be called again
   * @throws the signal's reason
   */
  async enter(signal: AbortSignal, onMove: (before: number) => void): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal, onMove);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next) next.enter();
      else this.#free++;
      this.#tell(0);
    };
  }

  async #wait(signal: AbortSignal, onMove: Waiting["onMove"]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { enter: resolve, onMove };
    const leave = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      this.#tell(at);
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    onMove(this.#waiting.length - 1);
    signal.addEventListener("abort", leave, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", leave));
  }

  #tell(from: number): void {
    for (const [index, { onMove }] of this.#waiting.entries()) if (index >= from) onMove(index);
  }
}
