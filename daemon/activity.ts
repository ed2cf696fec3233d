/** How long after a prompt or an abort the runtime's status may not show its effect. */
const VISIBLE_MS = 3_000;

/** Runs that the runtime's status does not show yet, and ends of runs that are under way. */
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

  /** Whether a prompt must wait: a client's run may begin, or all runs are being ended. */
  get isHeld(): boolean {
    return this.#endings > 0 || performance.now() - this.#clientAt < VISIBLE_MS;
  }

  /** Whether a prompt was accepted whose run may not show yet. */
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
