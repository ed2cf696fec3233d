/** A text that the agent is writing, as far as it is. */
export interface LiveText {
  turnId: string;
  partId: string;
  text: string;
}

/** The texts under way for one stream. */
export interface LiveSubscription {
  /** The texts that have grown since the last call. */
  take(): LiveText[];
  /** Resolves when there are some. */
  grown(): Promise<void>;
  close(): void;
}

/**
 * Passes the texts that agents are writing to the streams of this server at once: they are stored only twice a second.
 * Streams of other servers get them when they are stored.
 */
export class LiveTexts {
  readonly #subscriptions = new Map<string, Set<(text: LiveText) => void>>();

  publish(sessionId: string, text: LiveText): void {
    for (const send of this.#subscriptions.get(sessionId) ?? []) send(text);
  }

  /** Whether anybody listens. */
  has(sessionId: string): boolean {
    return this.#subscriptions.has(sessionId);
  }

  subscribe(sessionId: string): LiveSubscription {
    const texts = new Map<string, LiveText>();
    let wake = () => {};
    const send = (text: LiveText) => {
      texts.set(text.partId, text);
      wake();
    };
    const all = this.#subscriptions.get(sessionId) ?? new Set();
    this.#subscriptions.set(sessionId, all.add(send));
    return {
      take() {
        const grown = [...texts.values()];
        texts.clear();
        return grown;
      },
      grown: () =>
        new Promise((resolve) => {
          if (texts.size > 0) resolve();
          else wake = resolve;
        }),
      close: () => {
        all.delete(send);
        if (all.size === 0) this.#subscriptions.delete(sessionId);
      },
    };
  }
}
