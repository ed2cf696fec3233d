import type { ConversationEvent, Snapshot } from "./conversation-event.ts";
import { isCut, outcomeOf, type Result } from "./outcome.ts";
import type { Ask, Message, Part, RunError, RuntimeEvent, Status } from "./runtime-event.ts";
import { type ShownText, updateText } from "./shown-text.ts";
import type { ToolUse } from "./tools.ts";

/** Events, messages and parts that are remembered: far more than any repeated event reaches back. */
const REMEMBERED_MAX = 20_000;
const RANK = { pending: 0, running: 1, completed: 2, error: 2 };

/**
 * The state of one conversation. Accepts events in any number of copies, and snapshots that fill the gaps between them.
 * Each returned event is to be shown in order, and is returned only once.
 */
export class Conversation {
  readonly id: string;
  readonly #sessionIds: Set<string>;
  readonly #messages = new Map<string, Message>();
  readonly #texts = new Map<string, ShownText>();
  readonly #tools = new Map<string, number>();
  /** Events for messages that are not known yet. */
  readonly #deferred = new Map<string, RuntimeEvent[]>();
  readonly #asks = new Map<string, Ask>();
  readonly #answered = new Set<string>();
  readonly #cut = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #seenEventIds = new Map<string, true>();
  /** The text of the current answer that a failed attempt had already streamed. */
  #abandoned: string | null = null;
  #status: Status = { type: "idle" };
  #lastError: RunError | null = null;
  #newest: Snapshot | null = null;
  #revision = 0;

  constructor(id: string) {
    this.id = id;
    this.#sessionIds = new Set([id]);
  }

  get status(): Status {
    return this.#status;
  }

  /** Increases with each event that changes whether the agent works or waits: an older snapshot is out of date. */
  get revision(): number {
    return this.#revision;
  }

  /** Open permission requests and questions, the oldest first. */
  get asks(): Ask[] {
    return [...this.#asks.values()];
  }

  /** Whether a runtime session is this conversation or one of its subagents. */
  includes(sessionId: string): boolean {
    return this.#sessionIds.has(sessionId);
  }

  /** @param eventId identifies copies of the same event; empty if it has none */
  apply(event: RuntimeEvent, eventId = ""): ConversationEvent[] {
    if (eventId !== "") {
      if (this.#seenEventIds.has(eventId)) return [];
      remember(this.#seenEventIds, eventId, true);
    }
    if (["status", "asked", "answered"].includes(event.type)) this.#revision++;
    switch (event.type) {
      case "session":
        this.#addSubagent(event);
        return [];
      case "message":
        return [...this.#message(event.message), ...this.#failure(event.message)];
      case "part":
        return this.#part(event.part);
      case "delta":
        return this.#delta(event);
      case "status":
        return event.sessionId === this.id ? this.#setStatus(event.status) : [];
      case "error":
        return event.sessionId === this.id ? this.#error(event.error) : [];
      case "asked":
        return this.#asked(event.ask);
      case "answered":
        return this.#answer(event.askId);
    }
  }

  /** Records that the stream was lost: texts that are still being written will have gaps. */
  disconnect(): void {
    for (const shown of this.#texts.values()) shown.hasGap = !shown.isComplete;
  }

  /**
   * Returns everything that was missed; on the first call, the whole history.
   * @param revision the revision at the time of the snapshot's request
   */
  applySnapshot(snapshot: Snapshot, revision = this.#revision): ConversationEvent[] {
    const events: ConversationEvent[] = [];
    for (const session of snapshot.sessions) this.#addSubagent(session);
    const isUnknown = ({ message }: Snapshot["messages"][number]) => !this.#messages.has(message.id);
    if (this.#newest !== null && snapshot.messages.length > 0 && snapshot.messages.every(isUnknown)) {
      if (this.#newest.messages.length > 0) events.push({ type: "gap" });
    }
    this.#newest = snapshot;
    const isIdle = snapshot.status.type === "idle";
    for (const { message, parts } of snapshot.messages) {
      events.push(...this.#message(message));
      for (const part of parts) events.push(...this.#part(part, true));
      events.push(...this.#failure(message));
    }
    if (revision !== this.#revision) return events;
    events.push(...this.#setStatus(snapshot.status));
    // the runtime keeps the requests of an aborted run in its list
    const asks = isIdle ? [] : snapshot.asks;
    for (const ask of asks) events.push(...this.#asked(ask));
    for (const id of this.#asks.keys()) {
      if (!asks.some((ask) => ask.id === id)) events.push(...this.#answer(id));
    }
    return events;
  }

  /** Reports, once, that the last answer was cut off. Call it only while nothing runs. */
  checkCutOff(): ConversationEvent[] {
    const last = this.#newest?.messages.at(-1)?.message;
    if (this.#status.type !== "idle" || last?.role !== "assistant" || !isCut(last)) return [];
    return isNew(this.#cut, last.id) ? [{ type: "cut", messageId: last.id }] : [];
  }

  /** The outcome of a prompt in the last snapshot. Call it only while nothing runs. */
  outcome(promptId: string): Result {
    return outcomeOf(this.#newest?.messages ?? [], promptId, this.#lastError);
  }

  /** Errors before a new prompt do not count for it. */
  clearErrors(): void {
    this.#lastError = null;
  }

  #addSubagent({ id, parentId }: { id: string; parentId: string | null }): void {
    if (parentId !== null && this.#sessionIds.has(parentId)) this.#sessionIds.add(id);
  }

  #message(message: Message): ConversationEvent[] {
    if (!this.includes(message.sessionId)) return [];
    const { id, role, parentId } = message;
    const begins = role === "assistant" && message.sessionId === this.id && !this.#messages.has(id);
    remember(this.#messages, id, message);
    const early = this.#deferred.get(id) ?? [];
    this.#deferred.delete(id);
    const turn: ConversationEvent[] = begins ? [{ type: "turn", messageId: id, answers: parentId }] : [];
    return [...turn, ...early.flatMap((event) => this.apply(event))];
  }

  /** Reports, once, an answer that failed; after its parts. */
  #failure({ id, sessionId, role, parentId, error }: Message): ConversationEvent[] {
    if (error === null || role !== "assistant" || sessionId !== this.id || !isNew(this.#failed, id))
      return [];
    return [{ type: "failed", messageId: id, answers: parentId, error }];
  }

  #part(part: Part, isSnapshot = false): ConversationEvent[] {
    const message = this.#messages.get(part.messageId);
    if (message === undefined) return this.#defer(part.messageId, { type: "part", part });
    const isSubagent = part.sessionId !== this.id;
    if (part.kind === "tool") return this.#tool(part.id, part.use, message, isSubagent);
    if (part.kind === "hidden") {
      const { messageId } = part;
      const known = { messageId, text: "", isComplete: true, hasGap: true, repeats: null };
      if (!this.#texts.has(part.id)) remember(this.#texts, part.id, known);
      return [];
    }
    if (isSubagent) return [];
    if (part.kind === "file") {
      if (message.role !== "user" || this.#tools.has(part.id)) return [];
      remember(this.#tools, part.id, RANK.completed);
      return [{ type: "attached", messageId: message.id, partId: part.id, file: part.file }];
    }
    const shown = this.#textOf(part, isSnapshot);
    if (message.role === "user") {
      if (shown.isComplete || part.text === "") return [];
      shown.isComplete = true;
      return [{ type: "prompt", messageId: message.id, text: part.text }];
    }
    if (shown.isComplete) return [];
    // the first event of a text is sent while it is empty: seeing it empty means that nothing was missed
    if (!isSnapshot && part.text === "" && shown.text === "") shown.hasGap = false;
    const isWhole = part.isComplete || message.isComplete;
    const more = updateText(shown, part.text, isWhole);
    if (isWhole) shown.isComplete = true;
    return more === null ? [] : [this.#textEvent(message, part.id, more)];
  }

  #delta(event: Extract<RuntimeEvent, { type: "delta" }>): ConversationEvent[] {
    if (event.sessionId !== this.id) return [];
    const message = this.#messages.get(event.messageId);
    if (message === undefined) return this.#defer(event.messageId, event);
    // an unknown part may be a thought: wait for the event with its whole text
    const shown = this.#texts.get(event.partId);
    if (!shown || shown.isComplete || shown.hasGap || message.role !== "assistant") return [];
    const more = updateText(shown, shown.text + event.text, false);
    return more === null ? [] : [this.#textEvent(message, event.partId, more)];
  }

  #textOf({ id, messageId }: Part, isSnapshot: boolean): ShownText {
    const known = this.#texts.get(id);
    if (known) return known;
    // texts of an answer come one after the other: this one replaces it, and the retry was missed
    const isReplaced = (each: ShownText) => each.messageId === messageId && each.hasGap && each.text !== "";
    this.#abandon(isReplaced);
    const shown = { messageId, text: "", isComplete: false, hasGap: isSnapshot, repeats: this.#abandoned };
    this.#abandoned = null;
    remember(this.#texts, id, shown);
    return shown;
  }

  #textEvent(message: Message, partId: string, more: { begins: boolean; text: string }): ConversationEvent {
    return { type: "text", messageId: message.id, partId, answers: message.parentId, ...more };
  }

  #tool(partId: string, use: ToolUse, message: Message, isSubagent: boolean): ConversationEvent[] {
    if (use.subagent !== null && this.includes(message.sessionId)) this.#sessionIds.add(use.subagent);
    const rank = RANK[use.state];
    if (rank <= (this.#tools.get(partId) ?? 0)) return [];
    remember(this.#tools, partId, rank);
    return [{ type: "tool", messageId: message.id, partId, answers: message.parentId, isSubagent, use }];
  }

  #setStatus(status: Status): ConversationEvent[] {
    const before = this.#status;
    this.#status = status;
    if (status.type === "retry") this.#abandon();
    if (status.type === "idle") this.#abandoned = null;
    if (status.type === "busy" && before.type === "idle") this.#lastError = null;
    const isSame =
      status.type === before.type &&
      (status.type !== "retry" || (before.type === "retry" && status.attempt === before.attempt));
    return isSame ? [] : [{ type: "status", status }];
  }

  /** The request to the model is retried: the same text may come again from its start, or another one. */
  #abandon(isAbandoned: (shown: ShownText) => boolean = () => true): void {
    for (const [id, shown] of this.#texts) {
      if (shown.isComplete || !isAbandoned(shown)) continue;
      if (shown.text !== "") this.#abandoned = shown.repeats ?? shown.text;
      this.#texts.set(id, { ...shown, isComplete: true });
    }
  }

  #error(error: RunError): ConversationEvent[] {
    const isKnown = this.#lastError?.name === error.name;
    this.#lastError ??= error;
    return isKnown ? [] : [{ type: "error", error }];
  }

  #asked(ask: Ask): ConversationEvent[] {
    if (!this.includes(ask.sessionId) || this.#asks.has(ask.id) || this.#answered.has(ask.id)) return [];
    this.#asks.set(ask.id, ask);
    return [{ type: "asked", ask }];
  }

  #answer(askId: string): ConversationEvent[] {
    this.#answered.add(askId);
    return this.#asks.delete(askId) ? [{ type: "answered", askId }] : [];
  }

  #defer(messageId: string, event: RuntimeEvent): ConversationEvent[] {
    remember(this.#deferred, messageId, [...(this.#deferred.get(messageId) ?? []), event]);
    return [];
  }
}

function isNew(known: Set<string>, id: string): boolean {
  if (known.has(id)) return false;
  known.add(id);
  return true;
}

/** Sets a key, and drops the oldest one past the limit. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size <= REMEMBERED_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
