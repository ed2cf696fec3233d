import { type Change, change, type Draft, draftOf, EMPTY, shownOf, textOf } from "./editor.ts";

/** The input line: a draft, and the history of prompts. */
export class Input {
  readonly #history: string[];
  #draft: Draft = EMPTY;
  /** The index of the history entry in the draft; the history's length for the new draft, which is kept in `#new`. */
  #at: number;
  #new: Draft = EMPTY;
  /** The draft that was stashed while the agent asks something. */
  #stash: Draft | null = null;

  /** @param history the newest last */
  constructor(history: readonly string[]) {
    this.#history = [...history];
    this.#at = history.length;
  }

  get draft(): Draft {
    return this.#draft;
  }

  get isEmpty(): boolean {
    return this.#draft.cells.length === 0;
  }

  /** At the edge of a draft, up and down move through the history. */
  change(how: Change): void {
    const { at } = this.#draft;
    this.#draft = change(this.#draft, how);
    if (how.do !== "move" || this.#draft.at !== at) return;
    if (how.to === "up") this.recall(-1);
    if (how.to === "down") this.recall(1);
  }

  recall(step: 1 | -1): void {
    const to = this.#at + step;
    if (this.#stash !== null || to < 0 || to > this.#history.length) return;
    if (this.#at === this.#history.length) this.#new = this.#draft;
    this.#at = to;
    this.#draft = to === this.#history.length ? this.#new : draftOf(this.#history[to] ?? "");
  }

  /** The message to send; null if Enter means a new line, or there is nothing to send. */
  submit(): { text: string; shown: string } | null {
    const before = this.#draft.cells[this.#draft.at - 1];
    if (before?.text === "\\") {
      this.change({ do: "erase", to: "left" });
      this.change({ do: "insert", text: "\n" });
      return null;
    }
    const [text, shown] = [textOf(this.#draft), shownOf(this.#draft)];
    if (text.trim() === "") return null;
    this.clear();
    return { text, shown };
  }

  clear(): void {
    this.#draft = EMPTY;
    this.#at = this.#history.length;
    this.#new = EMPTY;
  }

  addToHistory(text: string): void {
    if (this.#history.at(-1) !== text) this.#history.push(text);
    this.#at = this.#history.length;
  }

  /** Restores a message that could not be sent, unless there is a new draft. */
  restore(text: string): void {
    if (this.isEmpty) this.#draft = draftOf(text);
  }

  /** Stashes the draft while an answer to the agent is typed. */
  stash(): void {
    this.#stash ??= this.#draft;
    this.#draft = EMPTY;
  }

  unstash(): void {
    if (this.#stash !== null) this.#draft = this.#stash;
    this.#stash = null;
  }
}
