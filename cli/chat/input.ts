import { type Change, change, type Draft, draftOf, EMPTY, shownOf, textOf } from "./editor.ts";

/** What a person types: the draft, and what was asked before, which can be taken up again. */
export class Input {
  readonly #past: string[];
  #draft: Draft = EMPTY;
  /** Which entry of the past the draft is; the past's length while it is a new one, which is kept meanwhile. */
  #at: number;
  #new: Draft = EMPTY;
  /** What was being typed when something else was asked for. */
  #aside: Draft | null = null;

  /** @param past the newest last */
  constructor(past: readonly string[]) {
    this.#past = [...past];
    this.#at = past.length;
  }

  get draft(): Draft {
    return this.#draft;
  }

  get isEmpty(): boolean {
    return this.#draft.cells.length === 0;
  }

  /** At the edge of a draft, up and down lead through the past. */
  change(how: Change): void {
    const { at } = this.#draft;
    this.#draft = change(this.#draft, how);
    if (how.do !== "move" || this.#draft.at !== at) return;
    if (how.to === "up") this.recall(-1);
    if (how.to === "down") this.recall(1);
  }

  recall(step: 1 | -1): void {
    const to = this.#at + step;
    if (this.#aside !== null || to < 0 || to > this.#past.length) return;
    if (this.#at === this.#past.length) this.#new = this.#draft;
    this.#at = to;
    this.#draft = to === this.#past.length ? this.#new : draftOf(this.#past[to] ?? "");
  }

  /** What is to be sent; null where Enter means a new line, or there is nothing to send. */
  take(): { words: string; shown: string } | null {
    const before = this.#draft.cells[this.#draft.at - 1];
    if (before?.text === "\\") {
      this.change({ do: "erase", to: "left" });
      this.change({ do: "insert", text: "\n" });
      return null;
    }
    const [words, shown] = [textOf(this.#draft), shownOf(this.#draft)];
    if (words.trim() === "") return null;
    this.clear();
    return { words, shown };
  }

  clear(): void {
    this.#draft = EMPTY;
    this.#at = this.#past.length;
    this.#new = EMPTY;
  }

  /** It was sent. */
  keep(words: string): void {
    if (this.#past.at(-1) !== words) this.#past.push(words);
    this.#at = this.#past.length;
  }

  /** It could not be sent, and is here again, unless something else is. */
  giveBack(words: string): void {
    if (this.isEmpty) this.#draft = draftOf(words);
  }

  /** Makes room for an answer to a question. */
  putAside(): void {
    this.#aside ??= this.#draft;
    this.#draft = EMPTY;
  }

  takeUp(): void {
    if (this.#aside !== null) this.#draft = this.#aside;
    this.#aside = null;
  }
}
