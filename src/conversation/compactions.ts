import { field, textField } from "../contract/json.ts";
import { remember } from "./remember.ts";
import type { Message } from "./runtime-message.ts";

/** Compactions, and messages that continue turns, that are remembered: events do not reach further back. */
const MAX = 1_000;

/**
 * The compactions of a conversation: opencode shortens one that is too long for the model, also in the middle of a turn.
 * It adds a message of the user with a part of the type `compaction`, and a summary that answers it; then another message
 * of the user, its own or the prompt again, with which the agent goes on. These belong to the turn that they interrupt.
 */
export class Compactions {
  /** Turns, by the ids of the messages of the user that continue them. */
  readonly #turns = new Map<string, string>();
  /** By the ids of their messages: whether the agent goes on afterwards, and has not yet. */
  readonly #goesOn = new Map<string, boolean>();
  /** One whose summary is complete: the next message of the user continues its turn. */
  #summarized: string | null = null;

  /** The turn of the answers to a message of the user. */
  turnOf(id: string): string {
    return this.#turns.get(id) ?? id;
  }

  /** Adds a part of a message of the user. @returns whether it is a compaction, of this turn */
  addPart(part: unknown, messageId: string, turnId: string): boolean {
    if (textField(part, "type") !== "compaction") return false;
    remember(this.#turns, messageId, turnId, MAX);
    if (!this.#goesOn.has(messageId)) remember(this.#goesOn, messageId, field(part, "auto") === true, MAX);
    return true;
  }

  /** @param parent the message that it answers; empty if it is one of the user */
  addMessage({ id, isUser, isSummary, isComplete, error }: Message, parent: string, isNew: boolean): void {
    if (isSummary && isComplete && !error && this.#goesOn.get(parent)) this.#summarized = parent;
    if (!isUser || !isNew || this.#summarized === null) return;
    remember(this.#turns, id, this.turnOf(this.#summarized), MAX);
    this.#goesOn.set(this.#summarized, false);
    this.#summarized = null;
  }
}
