/**
 * Lets many change something at a time, or one caller look at it while nobody does. A caller that waits to look goes
 * before later changes.
 */
export class Freeze {
  #changing = 0;
  #frozen: Promise<void> | null = null;
  #onIdle: (() => void) | null = null;

  async change<T>(work: () => Promise<T>): Promise<T> {
    while (this.#frozen) await this.#frozen;
    this.#changing++;
    try {
      return await work();
    } finally {
      if (--this.#changing === 0) this.#onIdle?.();
    }
  }

  /** Waits for the changes in progress, and holds back later ones until the work has ended. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    while (this.#frozen) await this.#frozen;
    const thawed = Promise.withResolvers<void>();
    this.#frozen = thawed.promise;
    try {
      if (this.#changing > 0) {
        const idle = Promise.withResolvers<void>();
        this.#onIdle = idle.resolve;
        await idle.promise;
      }
      return await work();
    } finally {
      this.#onIdle = null;
      this.#frozen = null;
      thawed.resolve();
    }
  }
}
