/** How long after a prompt or an abort its effect may not be visible in the runtime's status. */
const VISIBLE_MS = 3_000;

/** Tracks runs that are not visible in the runtime's status yet, and requests that end all runs. */
export class RunActivity {
  #endings = 0;
  /** When a client last prompted or aborted the runtime directly. */
  #clientAt = Number.NEGATIVE_INFINITY;
  #promptedAt = Number.NEGATIVE_INFINITY;

  noteClient(): void {
    this.#clientAt = performance.now();
  }

  notePrompt(): void {
    this.#promptedAt = performance.now();
  }

  /** Whether a prompt must wait: a client's run may be starting, or all runs are being ended. */
  get isHeld(): boolean {
    return this.#endings > 0 || performance.now() - this.#clientAt < VISIBLE_MS;
  }

  /** Whether a prompt was accepted whose run may not be visible yet. */
  get isRunExpected(): boolean {
    return performance.now() - this.#promptedAt < VISIBLE_MS;
  }

  /** Holds prompts back while `work` ends all runs. */
  async whileEnding<T>(work: () => Promise<T>): Promise<T> {
    this.#endings++;
    try {
      return await work();
    } finally {
      this.#endings--;
    }
  }
}
