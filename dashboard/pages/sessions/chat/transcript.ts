import type { AttachedFile } from "../../../../src/contract/attachment.ts";
import type { Author } from "../../../../src/contract/author.ts";
import type { TurnPart, TurnPlan, TurnRequest } from "../../../../src/contract/turn.ts";
import type { ChatEvent } from "../../../../src/conversation/chat-client.ts";
import type { Outcome } from "../../../../src/conversation/outcome.ts";
import type { RunError } from "../../../../src/conversation/runtime-event.ts";
import { DAEMON_MARK, outcomeText, retryText } from "../../../../src/conversation/text.ts";
import type { ShownTool } from "./tool.tsx";

/** An item of a conversation. Items are immutable, so that unchanged ones are not rendered again. */
export type Item = { key: string } & (
  | { kind: "prompt"; text: string; sent?: Sent }
  | { kind: "file"; file: AttachedFile }
  | { kind: "answer"; text: string }
  | { kind: "thought"; text: string }
  | { kind: "tool"; use: ShownTool; isSubagent: boolean }
  /** Only of a stored conversation: a live one shows the uses of their tools. */
  | { kind: "plan"; plan: TurnPlan }
  | { kind: "asked"; request: TurnRequest; state: TurnPart["state"] }
  | { kind: "note"; look: "info" | "warning" | "error"; text: string }
);

/** Who sent a prompt, if known, and when. */
export interface Sent {
  author: Author | null;
  at: string;
}

/** Limits of items and of characters per text, for pages that stay open for days. */
const ITEMS_MAX = 2_000;
const TEXT_MAX = 400_000;

/** The items of a conversation, built from its events. */
export class Transcript {
  #items: Item[] = [];
  readonly #at = new Map<string, number>();
  #dropped = 0;
  #notes = 0;
  /** Whether a note says that the answer was cut off: the daemon reports it too. */
  #isCutOff = false;
  /** Ids of the prompts that the runtime has. */
  readonly #prompts = new Set<string>();
  /** Ids of the answers whose failure has a note. */
  readonly #failed = new Set<string>();

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Whether the runtime has a prompt. */
  has(messageId: string): boolean {
    return this.#prompts.has(messageId);
  }

  /** The place of a prompt among the runtime's, from 1; 0 if it is not among them. */
  placeOf(messageId: string): number {
    return [...this.#prompts].indexOf(messageId) + 1;
  }

  hasItem(key: string): boolean {
    return this.#at.has(key);
  }

  /** The text of the last answer, for screen readers. */
  get lastWords(): string {
    const last = this.#items.findLast(({ kind }) => kind === "answer" || kind === "prompt");
    return last?.kind === "answer" ? last.text : "";
  }

  /** @param now milliseconds since 1970 */
  add(news: ChatEvent, now: number): void {
    switch (news.type) {
      case "prompt":
        this.#prompts.add(news.messageId);
        if (news.text.startsWith(DAEMON_MARK)) this.#cutOff(news.text.slice(DAEMON_MARK.length));
        else this.#put({ kind: "prompt", key: news.messageId, text: news.text });
        break;
      case "attached":
        this.#put({ kind: "file", key: news.partId, file: news.file });
        break;
      case "turn":
        this.#isCutOff = false;
        break;
      case "text":
        this.#append(news.partId, news.text, news.begins);
        break;
      case "tool":
        this.#put({ kind: "tool", key: news.partId, use: news.use, isSubagent: news.isSubagent });
        break;
      case "status":
        if (news.status.type === "retry") this.#retry(retryText(news.status, now));
        break;
      case "failed":
        this.#failed.add(news.answers ?? "");
        this.#end(news.error.name === "MessageAbortedError" ? "aborted" : "failed", news.error);
        break;
      case "cut":
        this.#cutOff(outcomeText("cut_off", null));
        break;
      case "gap":
        this.#note("info", "A part of the conversation is missing here.");
        break;
      case "ended":
        if (!this.#failed.has(news.messageId)) this.#end(news.outcome, news.error);
        break;
      case "error":
      case "asked":
      case "answered":
      case "caught up":
      case "lost":
      case "found":
        break;
    }
  }

  #append(partId: string, text: string, begins: boolean): void {
    const at = this.#at.get(partId);
    const known = at === undefined ? undefined : this.#items[at - this.#dropped];
    const before = known?.kind === "answer" && !begins ? known.text : "";
    if (before.length >= TEXT_MAX) return;
    this.#put({ kind: "answer", key: partId, text: (before + text).slice(0, TEXT_MAX) });
  }

  #end(outcome: Outcome, error: RunError | null): void {
    if (outcome === "completed") return;
    const words = outcomeText(outcome, error);
    if (outcome === "cut_off") this.#cutOff(words);
    else this.#note(outcome === "aborted" ? "info" : "error", words);
  }

  #cutOff(words: string): void {
    if (!this.#isCutOff) this.#note("warning", words);
    this.#isCutOff = true;
  }

  /** Consecutive retries share one note. */
  #retry(words: string): void {
    const last = this.#items.at(-1);
    const isAgain = last?.kind === "note" && last.key.startsWith("retry");
    this.#put({
      kind: "note",
      key: isAgain ? last.key : `retry ${this.#notes++}`,
      look: "warning",
      text: words,
    });
  }

  #note(look: "info" | "warning" | "error", text: string): void {
    this.#put({ kind: "note", key: `note ${this.#notes++}`, look, text });
  }

  #put(item: Item): void {
    const at = this.#at.get(item.key);
    if (at !== undefined && at >= this.#dropped) {
      this.#items = this.#items.with(at - this.#dropped, item);
      return;
    }
    this.#at.set(item.key, this.#dropped + this.#items.length);
    this.#items = [...this.#items, item];
    if (this.#items.length <= ITEMS_MAX) return;
    const [first] = this.#items;
    if (first) this.#at.delete(first.key);
    this.#items = this.#items.slice(1);
    this.#dropped++;
  }
}
