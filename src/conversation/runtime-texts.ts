import { numberField, textField } from "../contract/json.ts";
import { remember } from "./remember.ts";
import { isText, type RuntimePart } from "./runtime-message.ts";

/** Texts under way that are remembered: events do not reach further back. */
const TEXTS_MAX = 1_000;

/**
 * The texts that are still being written. opencode has none of a text before it is complete: only its events do. So a
 * text of which an event may have been missed is not continued, which would leave a gap, until it is complete.
 */
export class RuntimeTexts {
  /** By the ids of their parts. */
  readonly #texts = new Map<string, { part: RuntimePart; messageId: string }>();

  /** Remembers a part while it is under way. */
  set(part: RuntimePart, messageId: string): void {
    if (part.isComplete || !isText(part.kind)) this.#texts.delete(part.partId);
    else remember(this.#texts, part.partId, { part, messageId }, TEXTS_MAX);
  }

  /**
   * Continues a text.
   * @param properties those of the event. The adapter of other agents, whose snapshots have the texts under way, reports
   *   the position, as those of the snapshot may come again.
   * @returns its part, if it has changed
   */
  grow(properties: unknown): RuntimePart | null {
    const part = this.#texts.get(textField(properties, "partID"))?.part;
    if (!part || textField(properties, "field") !== "text") return null;
    const at = numberField(properties, "offset") ?? (part.mayLack ? null : part.text.length);
    if (at === null || at > part.text.length) return null;
    const text = part.text.slice(0, at) + textField(properties, "delta");
    if (text.length <= part.text.length) return null;
    part.text = text;
    return part;
  }

  /** Ends the texts of a message. @returns their parts */
  complete(message: string): RuntimePart[] {
    return this.#end(({ messageId }) => messageId === message);
  }

  /** Ends the texts of the agent itself, and empties them. @returns their parts */
  drop(): RuntimePart[] {
    const dropped = this.#end(({ part }) => part.parentId === null && part.kind !== "prompt");
    return dropped.map((part) => ({ ...part, text: "", mayLack: false }));
  }

  #end(isEnded: (text: { part: RuntimePart; messageId: string }) => boolean): RuntimePart[] {
    const ended = [...this.#texts.values()].filter(isEnded).map(({ part }) => part);
    for (const { partId } of ended) this.#texts.delete(partId);
    return ended.map((part) => ({ ...part, isComplete: true }));
  }
}
