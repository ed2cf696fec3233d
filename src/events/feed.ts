import type { Db } from "../../db/client.ts";
import { type NumberedEvent, readEventsAfter } from "./read.ts";

/** Who follows a project's events. */
export interface Reader {
  /**
   * Says at which number it stands: `ready` to hear what comes after it, or at a `reset`, since what came before is not
   * kept.
   */
  stand(how: "ready" | "reset", at: number, head: number): void;
  tell(event: NumberedEvent): void;
  /** Resolves when it has room for more of what is there already, and when it is gone. */
  room(): Promise<void>;
  end(why: "deleted" | "stopping"): void;
  /** Aborted when it hears no more. */
  gone: AbortSignal;
}

/** One project's events, read once for all who follow them in this process. */
export class Feed {
  readonly #db: Db;
  readonly #projectId: string;
  /** Readers that know all that was told → the number of what they were told last. */
  readonly #told = new Map<Reader, number>();
  /** What was read last; null before anything was. */
  #at: number | null = null;
  #looking: Promise<void> | null = null;
  #isDue = false;
  #joining = 0;

  constructor(db: Db, projectId: string) {
    this.#db = db;
    this.#projectId = projectId;
  }

  /** Nobody follows it. */
  get isIdle(): boolean {
    return this.#told.size === 0 && this.#joining === 0;
  }

  /** Whether all has been read up to this number. */
  knows(head: number): boolean {
    return this.#at === head;
  }

  /**
   * Tells a reader what came after a number, and from then on all that comes; without one, all that comes from now on.
   * Resolves when the reader has caught up.
   */
  async join(reader: Reader, after: number | null): Promise<void> {
    this.#joining++;
    try {
      for (let at = after, isNew = true; !reader.gone.aborted; isNew = false) {
        const found = await readEventsAfter(this.#db, this.#projectId, at ?? Number.MAX_SAFE_INTEGER);
        if (!found) return reader.end("deleted");
        const { head, events } = found;
        this.#at ??= head;
        const isKept = at === null || at === head || events[0]?.seq === at + 1;
        if (isNew && isKept) reader.stand("ready", at ?? head, head);
        if (!isKept) reader.stand("reset", head, head);
        for (const event of isKept ? events : []) reader.tell(event);
        at = isKept ? (events.at(-1)?.seq ?? head) : head;
        if (at >= this.#at) {
          // nothing can have been told since it was compared
          this.#told.set(reader, at);
          break;
        }
        await reader.room();
      }
    } finally {
      this.#joining--;
    }
    // it was asked for while nobody knew where to begin
    if (this.#isDue) await this.look();
  }

  leave(reader: Reader): void {
    this.#told.delete(reader);
  }

  end(why: "deleted" | "stopping"): void {
    for (const reader of [...this.#told.keys()]) reader.end(why);
  }

  /** Reads what is new. Asked for while it reads, it reads once more. @throws what the database throws */
  async look(): Promise<void> {
    this.#isDue = true;
    this.#looking ??= this.#lookOn().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  async #lookOn(): Promise<void> {
    while (this.#isDue && this.#at !== null) {
      this.#isDue = false;
      const found = await readEventsAfter(this.#db, this.#projectId, this.#at);
      if (!found) return this.end("deleted");
      const { head, events } = found;
      if (events.length === 0) continue;
      if (events[0]?.seq !== this.#at + 1) this.#skipTo(head);
      else for (const event of events) this.#tellAll(event);
      this.#isDue ||= this.#at < head;
    }
  }

  /** What came in between was taken away before it was read, as after a long time without the database. */
  #skipTo(head: number): void {
    this.#at = head;
    for (const reader of [...this.#told.keys()]) {
      this.#told.set(reader, head);
      reader.stand("reset", head, head);
    }
  }

  #tellAll(event: NumberedEvent): void {
    this.#at = event.seq;
    for (const [reader, last] of [...this.#told]) {
      // who joined meanwhile may be further
      if (last >= event.seq) continue;
      this.#told.set(reader, event.seq);
      reader.tell(event);
    }
  }
}
