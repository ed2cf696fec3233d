/** A page that waits reloads every two seconds: after a longer pause, somebody begins to wait. */
const PAUSE_MS = 15_000;
/** After this long, there is something to check. */
const LONG_MS = 20_000;
/** Ports that are remembered. */
const PORTS_MAX = 100;

/** Knows for how long browsers have waited for a program on a port. */
export class Waiting {
  readonly #ports = new Map<number, { since: number; last: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a browser waits for a port. @returns whether it is for so long that there is something to check */
  isLong(port: number): boolean {
    const now = this.#now();
    const before = this.#ports.get(port);
    const since = before && now - before.last <= PAUSE_MS ? before.since : now;
    this.#ports.delete(port);
    this.#ports.set(port, { since, last: now });
    for (const [oldest] of this.#ports) {
      if (this.#ports.size <= PORTS_MAX) break;
      this.#ports.delete(oldest);
    }
    return now - since >= LONG_MS;
  }
}
