import { SvcError } from "../contract/errors.ts";

/** Merges waiting for one base branch; each takes well under a second, so the last waits about a minute. */
const WAITING_MAX = 100;

/**
 * Lets the merges into one branch of one repository run one after the other in this process. It only saves work: what
 * keeps merges of many processes apart is the push's compare-and-swap.
 */
export class Turns {
  private readonly lines = new Map<string, { last: Promise<unknown>; length: number }>();

  /** @throws unavailable when too many are waiting. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { last: Promise.resolve(), length: 0 };
    if (line.length > WAITING_MAX) {
      throw new SvcError(
        "unavailable",
        "Too many merges are waiting for this branch.",
        {},
        { "Retry-After": "10" },
      );
    }
    line.length++;
    this.lines.set(key, line);
    const turn = line.last.then(work, work);
    line.last = turn;
    try {
      return await turn;
    } finally {
      if (--line.length === 0) this.lines.delete(key);
    }
  }
}
