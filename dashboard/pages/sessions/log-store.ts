import type { LogLine } from "../../../src/contract/session.ts";

/** Maximum number of lines on a page. `svc sessions logs` shows the whole log. */
const LINES_MAX = 2_000;
/** New lines are shown in batches at this interval. */
const SHOW_MS = 100;

export interface ShownLine extends LogLine {
  /** Position among all lines received. */
  key: number;
}

/** The end of a session's log, as received. */
export class LogStore {
  #lines: readonly ShownLine[] = [];
  #fresh: ShownLine[] = [];
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Lines of the sandbox received without a timestamp. The server sends them again with one after it stored them. */
  #untimed = new Map<string, number>();
  readonly #listeners = new Set<() => void>();

  get lines(): readonly ShownLine[] {
    return this.#lines;
  }

  /** Clears the log: a new stream sends the end of the log again. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#untimed = new Map();
    this.#fresh = [];
    this.#lines = [];
  }

  add(line: LogLine): void {
    if (line.source === "sandbox" && this.#isAgain(line)) return;
    this.#fresh.push({ ...line, key: this.#count++ });
    this.#timer ??= setTimeout(() => this.#show(), SHOW_MS);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #isAgain({ at, text }: LogLine): boolean {
    const times = this.#untimed.get(text) ?? 0;
    if (at === null) this.#untimed.set(text, times + 1);
    else if (times > 1) this.#untimed.set(text, times - 1);
    else if (times === 1) this.#untimed.delete(text);
    if (this.#untimed.size > LINES_MAX) this.#untimed = new Map();
    return at !== null && times > 0;
  }

  #show(): void {
    this.#timer = undefined;
    this.#lines = [...this.#lines, ...this.#fresh].slice(-LINES_MAX);
    this.#fresh = [];
    for (const listener of this.#listeners) listener();
  }
}
