import type { Ask, Message, Part, RunError, RuntimeEvent, Status } from "./events.ts";
import type { Happening, Snapshot } from "./happening.ts";
import { isCut, outcomeOf, type Result } from "./outcome.ts";
import { grow, type Shown } from "./shown-text.ts";
import type { ToolUse } from "./tools.ts";

/** Events, messages and parts that are remembered: far more than anything is told again after. */
const REMEMBERED_MAX = 20_000;
const RANK = { pending: 0, running: 1, completed: 2, error: 2 };

/**
 * One conversation. Events go in, in any number of copies and with gaps that snapshots fill; what comes out is to be
 * shown as it comes, and never comes twice.
 */
export class Conversation {
  readonly id: string;
  readonly #family: Set<string>;
  readonly #messages = new Map<string, Message>();
  readonly #texts = new Map<string, Shown>();
  readonly #tools = new Map<string, number>();
  /** Parts of messages that are not known yet. */
  readonly #early = new Map<string, RuntimeEvent[]>();
  readonly #asks = new Map<string, Ask>();
  readonly #answered = new Set<string>();
  readonly #cut = new Set<string>();
  readonly #failed = new Set<string>();
  readonly #heard = new Map<string, true>();
  /** What a try that has failed had said of the answer under way. */
  #abandoned: string | null = null;
  #status: Status = { type: "idle" };
  #lastError: RunError | null = null;
  #newest: Snapshot | null = null;
  #turns = 0;

  constructor(id: string) {
    this.id = id;
    this.#family = new Set([id]);
  }

  get status(): Status {
    return this.#status;
  }

  /** Grows with each event that tells whether the agent works or waits: a snapshot from before one is out of date. */
  get turns(): number {
    return this.#turns;
  }

  /** What the agent waits for, the oldest first. */
  get asks(): Ask[] {
    return [...this.#asks.values()];
  }

  /** The conversation itself, or one of its subagents. */
  isOurs(sessionId: string): boolean {
    return this.#family.has(sessionId);
  }

  /** @param eventId by which a copy of it is known; empty where it has none */
  hear(event: RuntimeEvent, eventId = ""): Happening[] {
    if (eventId !== "") {
      if (this.#heard.has(eventId)) return [];
      remember(this.#heard, eventId, true);
    }
    if (["status", "asked", "answered"].includes(event.type)) this.#turns++;
    switch (event.type) {
      case "session":
        this.#join(event);
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

  /** Nothing is heard any more: what is under way goes on without us. */
  lose(): void {
    for (const shown of this.#texts.values()) shown.hasGap = !shown.isComplete;
  }

  /**
   * Everything that has been missed. The first time: everything that there is.
   * @param turns as they were when it was asked for
   */
  catchUp(snapshot: Snapshot, turns = this.#turns): Happening[] {
    const happenings: Happening[] = [];
    for (const session of snapshot.sessions) this.#join(session);
    const isStranger = ({ message }: Snapshot["messages"][number]) => !this.#messages.has(message.id);
    if (this.#newest !== null && snapshot.messages.length > 0 && snapshot.messages.every(isStranger)) {
      if (this.#newest.messages.length > 0) happenings.push({ type: "gap" });
    }
    this.#newest = snapshot;
    const isIdle = snapshot.status.type === "idle";
    for (const { message, parts } of snapshot.messages) {
      happenings.push(...this.#message(message));
      for (const part of parts) happenings.push(...this.#part(part, true));
      happenings.push(...this.#failure(message));
    }
    if (turns !== this.#turns) return happenings;
    happenings.push(...this.#setStatus(snapshot.status));
    // what an aborted run had asked stays in the runtime's list, and nobody waits for the answer
    const asks = isIdle ? [] : snapshot.asks;
    for (const ask of asks) happenings.push(...this.#asked(ask));
    for (const id of this.#asks.keys()) {
      if (!asks.some((ask) => ask.id === id)) happenings.push(...this.#answer(id));
    }
    return happenings;
  }

  /** Tells, once, of the last answer that it was cut off. Only while nothing runs. */
  cutOff(): Happening[] {
    const last = this.#newest?.messages.at(-1)?.message;
    if (this.#status.type !== "idle" || last?.role !== "assistant" || !isCut(last)) return [];
    return isNew(this.#cut, last.id) ? [{ type: "cut", messageId: last.id }] : [];
  }

  /** What became of a prompt, as the last snapshot shows it; to be asked while nothing runs. */
  outcome(promptId: string): Result {
    return outcomeOf(this.#newest?.messages ?? [], promptId, this.#lastError);
  }

  /** What went wrong before is no concern of the next prompt. */
  forgetErrors(): void {
    this.#lastError = null;
  }

  #join({ id, parentId }: { id: string; parentId: string | null }): void {
    if (parentId !== null && this.#family.has(parentId)) this.#family.add(id);
  }

  #message(message: Message): Happening[] {
    if (!this.isOurs(message.sessionId)) return [];
    const { id, role, parentId } = message;
    const begins = role === "assistant" && message.sessionId === this.id && !this.#messages.has(id);
    remember(this.#messages, id, message);
    const early = this.#early.get(id) ?? [];
    this.#early.delete(id);
    const turn: Happening[] = begins ? [{ type: "turn", messageId: id, answers: parentId }] : [];
    return [...turn, ...early.flatMap((event) => this.hear(event))];
  }

  /** Tells, once, of an answer that has failed; after its parts. */
  #failure({ id, sessionId, role, parentId, error }: Message): Happening[] {
    if (error === null || role !== "assistant" || sessionId !== this.id || !isNew(this.#failed, id))
      return [];
    return [{ type: "failed", messageId: id, answers: parentId, error }];
  }

  #part(part: Part, isSnapshot = false): Happening[] {
    const message = this.#messages.get(part.messageId);
    if (message === undefined) return this.#keep(part.messageId, { type: "part", part });
    const isSubagent = part.sessionId !== this.id;
    if (part.kind === "tool") return this.#tool(part.id, part.use, message, isSubagent);
    if (part.kind === "hidden") {
      const known = { text: "", isComplete: true, hasGap: true, repeats: null };
      if (!this.#texts.has(part.id)) remember(this.#texts, part.id, known);
      return [];
    }
    if (isSubagent) return [];
    const shown = this.#textOf(part.id, isSnapshot);
    if (message.role === "user") {
      if (shown.isComplete || part.text === "") return [];
      shown.isComplete = true;
      return [{ type: "prompt", messageId: message.id, text: part.text }];
    }
    if (shown.isComplete) return [];
    // the event by which a text begins is only told while it is empty: all that follows is heard
    if (!isSnapshot && part.text === "" && shown.text === "") shown.hasGap = false;
    const isWhole = part.isComplete || message.isComplete;
    const more = grow(shown, part.text, isWhole);
    if (isWhole) shown.isComplete = true;
    return more === null ? [] : [this.#say(message, part.id, more)];
  }

  #delta(event: Extract<RuntimeEvent, { type: "delta" }>): Happening[] {
    if (event.sessionId !== this.id) return [];
    const message = this.#messages.get(event.messageId);
    if (message === undefined) return this.#keep(event.messageId, event);
    // a part that is not known yet may be a thought: its whole text will say
    const shown = this.#texts.get(event.partId);
    if (!shown || shown.isComplete || shown.hasGap || message.role !== "assistant") return [];
    const more = grow(shown, shown.text + event.text, false);
    return more === null ? [] : [this.#say(message, event.partId, more)];
  }

  #textOf(partId: string, isSnapshot: boolean): Shown {
    const known = this.#texts.get(partId);
    if (known) return known;
    const shown = { text: "", isComplete: false, hasGap: isSnapshot, repeats: this.#abandoned };
    this.#abandoned = null;
    remember(this.#texts, partId, shown);
    return shown;
  }

  #say(message: Message, partId: string, more: { begins: boolean; text: string }): Happening {
    return { type: "text", messageId: message.id, partId, answers: message.parentId, ...more };
  }

  #tool(partId: string, use: ToolUse, message: Message, isSubagent: boolean): Happening[] {
    if (use.subagent !== null && this.isOurs(message.sessionId)) this.#family.add(use.subagent);
    const rank = RANK[use.state];
    if (rank <= (this.#tools.get(partId) ?? 0)) return [];
    remember(this.#tools, partId, rank);
    return [{ type: "tool", messageId: message.id, partId, answers: message.parentId, isSubagent, use }];
  }

  #setStatus(status: Status): Happening[] {
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

  /** The model is asked again, and says the same from the beginning, or something else. */
  #abandon(): void {
    for (const [id, shown] of this.#texts) {
      if (shown.isComplete) continue;
      if (shown.text !== "") this.#abandoned = shown.repeats ?? shown.text;
      this.#texts.set(id, { ...shown, isComplete: true });
    }
  }

  #error(error: RunError): Happening[] {
    const isKnown = this.#lastError?.name === error.name;
    this.#lastError ??= error;
    return isKnown ? [] : [{ type: "error", error }];
  }

  #asked(ask: Ask): Happening[] {
    if (!this.isOurs(ask.sessionId) || this.#asks.has(ask.id) || this.#answered.has(ask.id)) return [];
    this.#asks.set(ask.id, ask);
    return [{ type: "asked", ask }];
  }

  #answer(askId: string): Happening[] {
    this.#answered.add(askId);
    return this.#asks.delete(askId) ? [{ type: "answered", askId }] : [];
  }

  #keep(messageId: string, event: RuntimeEvent): Happening[] {
    remember(this.#early, messageId, [...(this.#early.get(messageId) ?? []), event]);
    return [];
  }
}

function isNew(known: Set<string>, id: string): boolean {
  if (known.has(id)) return false;
  known.add(id);
  return true;
}

/** The oldest are forgotten. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value);
  if (map.size <= REMEMBERED_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
