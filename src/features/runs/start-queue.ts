/** A start that waits for its turn. */
interface Waiting {
  runId: string;
  projectId: string;
  enter(): void;
}

/** The place of a start that waits; the first is 1. */
export interface QueuePlace {
  runId: string;
  position: number;
  length: number;
}

/**
 * The sandboxes that a server starts at once, since each keeps a processor busy. The others wait. Projects take turns: a
 * project that starts many sandboxes delays its own, and nobody else's.
 */
export class StartQueue {
  /** In the order of their arrival. */
  readonly #waiting: Waiting[] = [];
  /** Project → its starts under way. */
  readonly #under = new Map<string, number>();
  /** Project → the number of its newest start, of those that have starts under way or waiting. */
  readonly #served = new Map<string, number>();
  #starts = 0;
  #free: number;
  readonly #onPlaces: (places: readonly QueuePlace[]) => void;

  /**
   * @param size how many start at once
   * @param onPlaces called with the places of all that wait, whenever one changes
   */
  constructor(size: number, onPlaces: (places: readonly QueuePlace[]) => void) {
    this.#free = size;
    this.#onPlaces = onPlaces;
  }

  /**
   * Waits for a slot.
   * @param onWait called if it has to wait
   * @returns gives the slot back; may be called again
   * @throws the signal's reason
   */
  async enter(
    { runId, projectId }: Pick<Waiting, "runId" | "projectId">,
    signal: AbortSignal,
    onWait: (place: QueuePlace) => void,
  ): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#take(projectId);
    else await this.#wait({ runId, projectId }, signal, onWait);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#free++;
      this.#under.set(projectId, (this.#under.get(projectId) ?? 1) - 1);
      if (this.#under.get(projectId) === 0) this.#under.delete(projectId);
      this.#admit();
      const isKnown =
        this.#under.has(projectId) || this.#waiting.some((each) => each.projectId === projectId);
      if (!isKnown) this.#served.delete(projectId);
    };
  }

  /** Reports the places again. */
  report(): void {
    const length = this.#waiting.length;
    if (length > 0) this.#onPlaces(this.#order().map((each, index) => placeOf(each, index, length)));
  }

  #take(projectId: string): void {
    this.#free--;
    this.#under.set(projectId, (this.#under.get(projectId) ?? 0) + 1);
    this.#served.set(projectId, ++this.#starts);
  }

  async #wait(
    start: Pick<Waiting, "runId" | "projectId">,
    signal: AbortSignal,
    onWait: (place: QueuePlace) => void,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { ...start, enter: resolve };
    const leave = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      this.report();
      reject(signal.reason);
    };
    this.#waiting.push(waiting);
    signal.addEventListener("abort", leave, { once: true });
    onWait(placeOf(waiting, this.#order().indexOf(waiting), this.#waiting.length));
    this.report();
    await promise.finally(() => signal.removeEventListener("abort", leave));
  }

  /** The slots are taken here, not when the starts wake up, so that no other start can take them. */
  #admit(): void {
    for (let next = this.#order()[0]; next && this.#free > 0; next = this.#order()[0]) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#take(next.projectId);
      next.enter();
    }
    this.report();
  }

  /**
   * First those whose project has the fewest starts under way or before them; of these, those whose project has not started
   * one for the longest time; of these, those that came first.
   */
  #order(): Waiting[] {
    const before = new Map(this.#under);
    const ranked = this.#waiting.map((each) => {
      const rank = before.get(each.projectId) ?? 0;
      before.set(each.projectId, rank + 1);
      return { each, rank, served: this.#served.get(each.projectId) ?? 0 };
    });
    return ranked.toSorted((a, b) => a.rank - b.rank || a.served - b.served).map(({ each }) => each);
  }
}

function placeOf({ runId }: Waiting, index: number, length: number): QueuePlace {
  return { runId, position: index + 1, length };
}
