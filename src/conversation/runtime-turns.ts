import { DAEMON_MARK } from "../contract/conversation.ts";
import { field, textField } from "../contract/json.ts";
import { Compactions } from "./compactions.ts";
import { remember } from "./remember.ts";
import {
  type Ask,
  errorOf,
  type RuntimeEvent,
  readRuntimeEvent,
  type Status,
  statusOf,
} from "./runtime-event.ts";
import {
  type Message,
  messageOf,
  type PermissionAsked,
  partOf,
  permissionPart,
  RUNTIME_ID,
  type RuntimePart,
  type Subagent,
  timeOf,
} from "./runtime-message.ts";
import { RuntimeTexts } from "./runtime-texts.ts";
import { type OpenTurn, type RuntimeTurn, turnOf } from "./runtime-turn.ts";

/** What has changed, in the order of the conversation. */
export interface TurnChanges {
  turns: RuntimeTurn[];
  parts: RuntimePart[];
  /** The ids of the permission requests that are open: all others are answered. Null if that is not known. */
  open: readonly string[] | null;
}

/** Turns, and messages, that are remembered: events do not reach further back. */
const TURNS_MAX = 50;
const MESSAGES_MAX = 1_000;
/** The titles that the runtime gives to conversations before the model has written one. */
const NO_TITLE = /^(?:New|Child) session - \d{4}-/;
/** Characters of what the model's service said. */
const RETRY_MAX = 500;
/** Messages whose parts came first. */
const EARLY_MAX = 100;
/** Subagents whose conversations are followed, subagents of subagents among them. */
const SUBAGENTS_MAX = 100;
/** Open permission requests: far more than an agent and its subagents can have. */
const ASKS_MAX = 100;

/**
 * Translates one conversation of the agent runtime (opencode 1.18) into turns and parts, with the conversations of the
 * subagents that it starts. Accepts snapshots and events in any number of copies.
 */
export class RuntimeTurns {
  readonly #conversation: string;
  readonly #messages = new Map<string, Message>();
  readonly #turns = new Map<string, OpenTurn>();
  readonly #texts = new RuntimeTexts();
  readonly #compactions = new Compactions();
  readonly #early = new Map<string, unknown[]>();
  readonly #asks = new Map<string, PermissionAsked>();
  /** By the ids of their conversations. */
  readonly #subagents = new Map<string, Subagent>();
  /** Whether a snapshot with all open requests has not been taken. */
  #hasAsks = false;
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
   * @param asks what the agent waits for; null if that is not known
   * @param info the conversation itself
   */
  applySnapshot(
    messages: readonly unknown[],
    isBusy: boolean,
    asks: readonly Ask[] | null,
    info?: unknown,
  ): void {
    this.#info(info);
    this.addMessages(messages);
    const last = this.#newest();
    // before its first answer, the run may not have begun
    if (!isBusy && last && last.answers.size > 0) last.hasEnded = true;
    // the runtime keeps the requests of an aborted run in its list
    if (isBusy) for (const ask of asks ?? []) this.#asked(ask);
    this.#hasAsks = asks !== null;
  }

  /** Messages of the conversation, or of a subagent, in order. */
  addMessages(messages: readonly unknown[]): void {
    for (const each of messages) {
      this.#message(field(each, "info"));
      const parts = field(each, "parts");
      for (const part of Array.isArray(parts) ? parts : []) this.#part(part, true);
    }
  }

  /** The conversations of the subagents that were found, the oldest first. */
  get subagents(): string[] {
    return [...this.#subagents.keys()];
  }

  /** @param event an event of the runtime; those of other conversations are ignored */
  applyEvent(event: unknown): void {
    const properties = field(event, "properties");
    const type = textField(event, "type");
    if (type === "session.updated") this.#info(field(properties, "info"));
    if (type === "message.updated") this.#message(field(properties, "info"));
    if (type === "message.part.updated") this.#part(field(properties, "part"), false);
    if (type === "permission.asked" || type === "permission.replied")
      this.#permission(readRuntimeEvent(event));
    if (type === "message.part.delta") this.#delta(properties);
    if (textField(properties, "sessionID") !== this.#conversation) return;
    if (type === "session.status") this.#setStatus(statusOf(field(properties, "status")));
    if (type === "session.idle") this.#setStatus({ type: "idle" });
    if (type === "session.error") this.#error(field(properties, "error"));
  }

  get hasChanges(): boolean {
    return this.#changedTurns.size > 0 || this.#changedParts.size > 0 || this.#hasAsks;
  }

  /** Whether nothing has changed but texts that were continued. */
  get hasOnlyGrown(): boolean {
    return this.#changedTurns.size === 0 && !this.#hasAsks && this.#changedParts.size === this.#grown.size;
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
    const open = this.#hasAsks ? [...this.#asks.keys()] : null;
    this.#hasAsks = false;
    return { turns: turns.map((turn) => turnOf(turn, this.#isCurrent(turn))), parts, open };
  }

  #info(info: unknown): void {
    const title = textField(info, "title");
    if (textField(info, "id") === this.#conversation && !NO_TITLE.test(title)) this.title = title;
  }

  /** The last turn that has an answer. */
  #answered(): OpenTurn | undefined {
    return [...this.#turns.values()].findLast(({ answers }) => answers.size > 0);
  }

  #newest(): OpenTurn | undefined {
    return [...this.#turns.values()].at(-1);
  }

  #setStatus(status: Status): void {
    const last = this.#newest();
    if (!last) return;
    // the snapshot may be older than the run
    last.hasEnded = status.type === "idle";
    // what it asked has no answer
    if (last.hasEnded) this.#asks.clear();
    last.retry = null;
    if (status.type === "retry") {
      const { attempt, message, at } = status;
      last.retry = { attempt, message: message.slice(0, RETRY_MAX), at: at === null ? null : timeText(at) };
      // the next attempt begins the answer again: what this one has written so far is no part of it
      this.#changeTexts(this.#texts.drop());
    }
    this.#changedTurns.add(last.turnId);
  }

  #error(error: unknown): void {
    const last = this.#newest();
    if (!last) return;
    last.error ??= errorOf(error);
    this.#changedTurns.add(last.turnId);
  }

  #permission(event: RuntimeEvent | null): void {
    if (event?.type === "asked") this.#asked(event.ask);
    const asked = event?.type === "answered" && this.#asks.get(event.askId);
    if (!asked) return;
    this.#asks.delete(event.askId);
    this.#changedParts.set(event.askId, permissionPart(asked, { reply: event.reply }));
  }

  #asked(ask: Ask): void {
    // questions are in the uses of their tool
    if (ask.kind !== "permission") return;
    const message = this.#messages.get(ask.tool?.messageId ?? "");
    // a subagent works for the newest turn
    const turn = this.#turns.get(message?.turnId ?? "") ?? this.#newest();
    if (!turn) return;
    const asked = { ask, turnId: turn.turnId, at: message?.createdAt ?? turn.startedAt };
    remember(this.#asks, ask.id, asked, ASKS_MAX);
    this.#changedParts.set(ask.id, permissionPart(asked, null));
  }

  #message(info: unknown): void {
    const conversation = textField(info, "sessionID");
    const subagent = this.#subagents.get(conversation) ?? null;
    const isOwn = conversation === this.#conversation;
    const found = isOwn || subagent ? messageOf(info, subagent) : null;
    if (!found) return;
    if (isOwn)
      this.#compactions.addMessage(found, textField(info, "parentID"), !this.#messages.has(found.id));
    const message = { ...found, turnId: this.#compactions.turnOf(found.turnId) };
    remember(this.#messages, message.id, message, MESSAGES_MAX);
    // whether a message of the user is a prompt is known by its first part
    if (isOwn && !message.isUser) this.#turn(message);
    // the runtime does not report the end of each text of an answer that was aborted
    if (message.isComplete) this.#changeTexts(this.#texts.complete(message.id));
    const early = this.#early.get(message.id) ?? [];
    this.#early.delete(message.id);
    // more may have been added to their texts
    for (const part of early) this.#part(part, true);
  }

  #turn(message: Message, isNote = false): void {
    const turn = this.#turns.get(message.turnId) ?? {
      turnId: message.turnId,
      startedAt: message.createdAt,
      answers: new Map<string, Message>(),
      hasEnded: false,
      error: null,
      retry: null,
      isNote,
    };
    remember(this.#turns, message.turnId, turn, TURNS_MAX);
    if (!message.isUser) {
      if (!turn.answers.has(message.id)) turn.hasEnded = false;
      turn.answers.set(message.id, message);
    }
    this.#changedTurns.add(message.turnId);
  }

  /** @param mayLack whether the beginning of a text under way may be missing */
  #part(value: unknown, mayLack: boolean): void {
    const conversation = textField(value, "sessionID");
    if (conversation !== this.#conversation && !this.#subagents.has(conversation)) return;
    const [partId, messageId] = [textField(value, "id"), textField(value, "messageID")];
    if (!RUNTIME_ID.test(partId) || !RUNTIME_ID.test(messageId)) return;
    const message = this.#messages.get(messageId);
    if (!message) {
      remember(this.#early, messageId, [...(this.#early.get(messageId) ?? []), value], EARLY_MAX);
      return;
    }
    if (message.isUser && conversation === this.#conversation) {
      const turnId = this.#answered()?.turnId ?? messageId;
      if (this.#compactions.addPart(value, messageId, turnId)) return;
      this.#turn(message, textField(value, "text").startsWith(DAEMON_MARK));
    }
    const part = partOf(value, message, mayLack);
    if (!part) return;
    if (part.tool?.subagent)
      remember(this.#subagents, part.tool.subagent, { partId, turnId: part.turnId }, SUBAGENTS_MAX);
    this.#texts.set(part, messageId);
    this.#changedParts.set(partId, part);
    this.#grown.delete(partId);
  }

  #delta(properties: unknown): void {
    const part = this.#texts.grow(properties);
    if (!part) return;
    if (!this.#changedParts.has(part.partId)) this.#grown.add(part.partId);
    this.#changedParts.set(part.partId, part);
  }

  #changeTexts(texts: readonly RuntimePart[]): void {
    for (const part of texts) {
      this.#changedParts.set(part.partId, part);
      this.#grown.delete(part.partId);
    }
  }

  /** Whether the runtime may be answering it: no later turn has an answer. */
  #isCurrent({ turnId }: OpenTurn): boolean {
    const turns = [...this.#turns.values()];
    const at = turns.findIndex((turn) => turn.turnId === turnId);
    return turns.slice(at + 1).every(({ answers }) => answers.size === 0);
  }
}

const timeText = (ms: number): string => new Date(timeOf(ms)).toISOString();
