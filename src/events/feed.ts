import type { Db } from "../../db/client.ts";
import { type NumberedEvent, readEventsAfter } from "./read.ts";

/** A subscriber to a project's events. */
export interface Subscriber {
  /**
   * Sets the number after which events follow: `ready` at the start, `reset` when earlier events are no longer stored.
   */
  position(kind: "ready" | "reset", at: number, head: number): void;
  send(event: NumberedEvent): void;
  /** Resolves when the subscriber has capacity for more stored events, and when it disconnects. */
  drained(): Promise<void>;
  end(why: "deleted" | "stopping"): void;
  /** Aborted when it disconnects. */
  closed: AbortSignal;
}

/** One project's events, read once for all subscribers in this process. */
export class Feed {
  readonly #db: Db;
  readonly #projectId: string;
  /** Subscribers that have caught up → the number of the last event sent to them. */
  readonly #sent = new Map<Subscriber, number>();
  /** The number of the last event read; null before the first read. */
  #at: number | null = null;
  #polling: Promise<void> | null = null;
  #isDue = false;
  #joining = 0;

  constructor(db: Db, projectId: string) {
    this.#db = db;
    this.#projectId = projectId;
  }

  /** It has no subscribers. */
  get isIdle(): boolean {
    return this.#sent.size === 0 && this.#joining === 0;
  }

  /** Whether all events up to this number have been read. */
  isAt(head: number): boolean {
    return this.#at === head;
  }

  /**
   * Sends a subscriber the events after a number, and then every new one; without a number, new events only. Resolves
   * when the subscriber has caught up.
   */
  async join(subscriber: Subscriber, after: number | null): Promise<void> {
    this.#joining++;
    try {
      for (let at = after, isNew = true; !subscriber.closed.aborted; isNew = false) {
        const found = await readEventsAfter(this.#db, this.#projectId, at ?? Number.MAX_SAFE_INTEGER);
        if (!found) return subscriber.end("deleted");
        const { head, events } = found;
        this.#at ??= head;
        const isKept = at === null || at === head || events[0]?.seq === at + 1;
        if (isNew && isKept) subscriber.position("ready", at ?? head, head);
        if (!isKept) subscriber.position("reset", head, head);
        for (const event of isKept ? events : []) subscriber.send(event);
        at = isKept ? (events.at(-1)?.seq ?? head) : head;
        if (at >= this.#at) {
          // no await between the comparison and this, so no event is missed
          this.#sent.set(subscriber, at);
          break;
        }
        await subscriber.drained();
      }
    } finally {
      this.#joining--;
    }
    // a poll was requested while no position was known
    if (this.#isDue) await this.poll();
  }

  leave(subscriber: Subscriber): void {
    this.#sent.delete(subscriber);
  }

  end(why: "deleted" | "stopping"): void {
    for (const subscriber of [...this.#sent.keys()]) subscriber.end(why);
  }

  /** Reads new events. A call during a poll causes one more poll. @throws database errors */
  async poll(): Promise<void> {
    this.#isDue = true;
    this.#polling ??= this.#pollWhileDue().finally(() => {
      this.#polling = null;
    });
    await this.#polling;
  }

  async #pollWhileDue(): Promise<void> {
    while (this.#isDue && this.#at !== null) {
      this.#isDue = false;
      const found = await readEventsAfter(this.#db, this.#projectId, this.#at);
      if (!found) return this.end("deleted");
      const { head, events } = found;
      if (events.length === 0) continue;
      if (events[0]?.seq !== this.#at + 1) this.#skipTo(head);
      else for (const event of events) this.#sendAll(event);
      this.#isDue ||= this.#at < head;
    }
  }

  /** The events in between were trimmed before they were read, as after a long database outage. */
  #skipTo(head: number): void {
    this.#at = head;
    for (const subscriber of [...this.#sent.keys()]) {
      this.#sent.set(subscriber, head);
      subscriber.position("reset", head, head);
    }
  }

  #sendAll(event: NumberedEvent): void {
    this.#at = event.seq;
    for (const [subscriber, last] of [...this.#sent]) {
      // a subscriber that joined meanwhile may be ahead
      if (last >= event.seq) continue;
      this.#sent.set(subscriber, event.seq);
      subscriber.send(event);
    }
  }
}
