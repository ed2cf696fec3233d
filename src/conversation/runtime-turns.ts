import { field, textField } from "../contract/json.ts";
import type { TurnState } from "../contract/turn.ts";
import type { TokensUsed } from "../contract/usage.ts";
import { errorOf, type RunError, statusOf } from "./runtime-event.ts";
import {
  type Message,
  messageOf,
  partOf,
  RUNTIME_ID,
  type RuntimePart,
  sentenceOf,
} from "./runtime-message.ts";

/** A turn as the runtime has it. The times are milliseconds since 1970 by the sandbox's clock. */
export interface RuntimeTurn {
  /** The id of the prompt's message. */
  turnId: string;
  state: TurnState;
  error: string | null;
  model: string | null;
  tokens: TokensUsed | null;
  cost: number | null;
  startedAt: number;
  endedAt: number | null;
}

/** What has changed, in the order of the conversation. */
export interface TurnChanges {
  turns: RuntimeTurn[];
  parts: RuntimePart[];
}

/** Turns, and texts under way, that are remembered: events do not reach further back. */
const TURNS_MAX = 50;
const TEXTS_MAX = 1_000;
/** The titles that the runtime gives to conversations before the model has written one. */
const NO_TITLE = /^(?:New|Child) session - \d{4}-/;
/** Messages whose parts came first. */
const EARLY_MAX = 100;

interface Outcome {
  state: TurnState;
  error: RunError | null;
}

interface OpenTurn {
  turnId: string;
  startedAt: number;
  /** The answers to its prompt, by id, in order. */
  answers: Map<string, Message>;
  /** The run ended since the prompt, or the last answer. */
  hasEnded: boolean;
  /** An error that is not that of an answer. */
  error: RunError | null;
}

/**
 * Translates one conversation of the agent runtime (opencode 1.18) into turns and parts. Accepts snapshots and events in
 * any number of copies; subagents' conversations are left out.
 */
export class RuntimeTurns {
  readonly #conversation: string;
  readonly #messages = new Map<string, Message>();
  readonly #turns = new Map<string, OpenTurn>();
  /** Texts that are still being written, by the ids of their parts. */
  readonly #texts = new Map<string, { part: RuntimePart; messageId: string }>();
  readonly #early = new Map<string, unknown[]>();
  readonly #changedTurns = new Set<string>();
  readonly #changedParts = new Map<string, RuntimePart>();
  /** Of the changed parts, texts that were continued, and have not changed in another way. */
  readonly #grown = new Set<string>();
  /** What the agent's model calls the conversation; empty before it does. */
  title = "";

  /** @param conversation its id in the runtime */
  constructor(conversation: string) {
    this.#conversation = conversation;
  }

  /**
   * @param messages those of the conversation, in order
   * @param isBusy whether a run is under way
   * @param info the conversation itself
   */
  applySnapshot(messages: readonly unknown[], isBusy: boolean, info?: unknown): void {
    this.#info(info);
    for (const each of messages) {
      this.#message(field(each, "info"));
      const parts = field(each, "parts");
      for (const part of Array.isArray(parts) ? parts : []) this.#part(part);
    }
    const last = this.#newest();
    // before its first answer, the run may not have begun
    if (!isBusy && last && last.answers.size > 0) last.hasEnded = true;
  }

  /** @param event an event of the runtime; those of other conversations are ignored */
  applyEvent(event: unknown): void {
    const properties = field(event, "properties");
    const type = textField(event, "type");
    if (type === "session.updated") this.#info(field(properties, "info"));
    if (type === "message.updated") this.#message(field(properties, "info"));
    if (type === "message.part.updated") this.#part(field(properties, "part"));
    if (textField(properties, "sessionID") !== this.#conversation) return;
    if (type === "message.part.delta") this.#delta(properties);
    if (type === "session.status") this.#setBusy(statusOf(field(properties, "status")).type !== "idle");
    if (type === "session.idle") this.#setBusy(false);
    if (type === "session.error") this.#error(field(properties, "error"));
  }

  get hasChanges(): boolean {
    return this.#changedTurns.size > 0 || this.#changedParts.size > 0;
  }

  /** Whether nothing has changed but texts that were continued. */
  get hasOnlyGrown(): boolean {
    return this.#changedTurns.size === 0 && this.#changedParts.size === this.#grown.size;
  }

  /** The texts that were continued since the last `takeChanges`. */
  get grown(): RuntimePart[] {
    return [...this.#grown].flatMap((id) => this.#changedParts.get(id) ?? []);
  }

  /** The changes since the last call. */
  takeChanges(): TurnChanges {
    const turns = [...this.#changedTurns].flatMap((id) => this.#turns.get(id) ?? []);
    const parts = [...this.#changedParts.values()].map((part) => ({ ...part }));
    this.#changedTurns.clear();
    this.#changedParts.clear();
    this.#grown.clear();
    return { turns: turns.map((turn) => this.#stateOf(turn)), parts };
  }

  #info(info: unknown): void {
    const title = textField(info, "title");
    if (textField(info, "id") === this.#conversation && !NO_TITLE.test(title)) this.title = title;
  }

  #newest(): OpenTurn | undefined {
    return [...this.#turns.values()].at(-1);
  }

  #setBusy(isBusy: boolean): void {
    const last = this.#newest();
    if (!last) return;
    // the snapshot may be older than the run
    last.hasEnded = !isBusy;
    this.#changedTurns.add(last.turnId);
  }

  #error(error: unknown): void {
    const last = this.#newest();
    if (!last) return;
    last.error ??= errorOf(error);
    this.#changedTurns.add(last.turnId);
  }

  #message(info: unknown): void {
    const message = messageOf(info, this.#conversation);
    if (!message) return;
    const turn = this.#turns.get(message.turnId) ?? {
      turnId: message.turnId,
      startedAt: message.createdAt,
      answers: new Map<string, Message>(),
      hasEnded: false,
      error: null,
    };
    remember(this.#turns, message.turnId, turn, TURNS_MAX);
    remember(this.#messages, message.id, message, TEXTS_MAX);
    if (!message.isUser) {
      if (!turn.answers.has(message.id)) turn.hasEnded = false;
      turn.answers.set(message.id, message);
    }
    this.#changedTurns.add(message.turnId);
    if (message.isComplete) this.#completeTexts(message.id);
    const early = this.#early.get(message.id) ?? [];
    this.#early.delete(message.id);
    for (const part of early) this.#part(part);
  }

  #part(value: unknown): void {
    if (textField(value, "sessionID") !== this.#conversation) return;
    const [partId, messageId] = [textField(value, "id"), textField(value, "messageID")];
    if (!RUNTIME_ID.test(partId) || !RUNTIME_ID.test(messageId)) return;
    const message = this.#messages.get(messageId);
    if (!message) {
      remember(this.#early, messageId, [...(this.#early.get(messageId) ?? []), value], EARLY_MAX);
      return;
    }
    const part = partOf(value, message);
    if (!part) return;
    if (part.isComplete) this.#texts.delete(partId);
    else remember(this.#texts, partId, { part, messageId }, TEXTS_MAX);
    this.#changedParts.set(partId, part);
    this.#grown.delete(partId);
  }

  #delta(properties: unknown): void {
    const part = this.#texts.get(textField(properties, "partID"))?.part;
    if (!part || part.tool || textField(properties, "field") !== "text") return;
    part.text += textField(properties, "delta");
    if (!this.#changedParts.has(part.partId)) this.#grown.add(part.partId);
    this.#changedParts.set(part.partId, part);
  }

  /** The runtime does not report the end of each text of an answer that was aborted. */
  #completeTexts(message: string): void {
    for (const [partId, { part, messageId }] of this.#texts) {
      if (part.tool || messageId !== message) continue;
      this.#texts.delete(partId);
      this.#changedParts.set(partId, { ...part, isComplete: true });
      this.#grown.delete(partId);
    }
  }

  #stateOf(turn: OpenTurn): RuntimeTurn {
    const answers = [...turn.answers.values()];
    const last = answers.at(-1);
    const { state, error } = this.#outcomeOf(turn, last);
    return {
      turnId: turn.turnId,
      state,
      error: error && sentenceOf(error),
      model: answers.findLast(({ model }) => model !== null)?.model ?? null,
      tokens: sumOf(answers),
      cost: answers.reduce<number | null>((sum, { cost }) => (cost === null ? sum : (sum ?? 0) + cost), null),
      startedAt: turn.startedAt,
      endedAt: state === "working" ? null : (last?.completedAt ?? last?.createdAt ?? turn.startedAt),
    };
  }

  #outcomeOf(turn: OpenTurn, last: Message | undefined): Outcome {
    if (last?.error) return endedBy(last.error);
    if (last && isFinal(last)) return { state: "done", error: null };
    if (this.#isCurrent(turn) && !turn.hasEnded) return { state: "working", error: null };
    if (turn.error) return endedBy(turn.error);
    // a run that was aborted between two attempts has no error
    return { state: last?.isComplete && last.finish === "" ? "aborted" : "interrupted", error: null };
  }

  /** Whether the runtime may be answering it: no later turn has an answer. */
  #isCurrent({ turnId }: OpenTurn): boolean {
    const turns = [...this.#turns.values()];
    const at = turns.findIndex((turn) => turn.turnId === turnId);
    return turns.slice(at + 1).every(({ answers }) => answers.size === 0);
  }
}

/** The runtime reports an abort as an error. */
function endedBy(error: RunError): Outcome {
  return error.name === "MessageAbortedError"
    ? { state: "aborted", error: null }
    : { state: "failed", error };
}

/** Whether the model ended its answer: it did not stop for a tool. */
function isFinal({ isComplete, finish }: Message): boolean {
  return isComplete && finish !== "" && finish !== "tool-calls" && finish !== "unknown";
}

function sumOf(answers: readonly Message[]): TokensUsed | null {
  const counted = answers.flatMap(({ tokens }) => tokens ?? []);
  if (counted.length === 0) return null;
  const sum = (name: keyof TokensUsed) => counted.reduce((total, tokens) => total + tokens[name], 0);
  return { input: sum("input"), output: sum("output"), cached: sum("cached") };
}

/** Sets a key, and drops the oldest ones past the limit. */
function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
