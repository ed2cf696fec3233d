import type { Attachment } from "../../src/contract/attachment.ts";
import type { CreatePromptBody, Prompt, PromptState } from "../../src/contract/prompt.ts";
import { type AnswerBody, isAlive, type Session, type WaitingFor } from "../../src/contract/session.ts";
import { type FollowEvent, follow } from "../../src/conversation/follow.ts";
import {
  type ConversationUpdate,
  followConversation,
  readPage,
} from "../../src/conversation/follow-conversation.ts";
import { sleep } from "../../src/conversation/reconnect.ts";
import type { Outcome } from "../../src/conversation/text.ts";
import { codeOf, isTransient, type Transport } from "../../src/conversation/transport.ts";
import { path } from "../api.ts";
import { attachedIn } from "../attachments.ts";
import { send } from "../commands/sessions/prompt.ts";
import type { Found } from "../commands/sessions/reference.ts";
import { transportOf } from "../transport.ts";
import { deletedError, requireOpen } from "./alive.ts";
import type { ChatEvent, ConversationEvent } from "./chat-event.ts";
import { Conversation } from "./conversation.ts";

/** Attempts of a request that can be repeated: about half a minute, as long as a server takes to restart. */
const TRIES = 10;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5_000;
/** Attempts to abort: the agent may have got the prompt, and not have begun to work. */
const ABORT_TRIES = 15;
const ABORT_DELAY_MS = 400;

/** Follows the conversation of one session, sends prompts and answers, and publishes what happens. */
export class ChatClient {
  readonly #found: Found;
  readonly #transport: Transport;
  readonly #publish: (event: ChatEvent) => void;
  readonly #stop = new AbortController();
  readonly #conversation = new Conversation();
  /** Own prompts that have not ended. */
  readonly #open = new Map<string, PromptState>();
  #session: Session;
  /** Whether changes of prompts may have been missed: those before the stream of the session, too. */
  #isBehind = true;
  #isLost = true;
  #isCaughtUp = false;
  /** Of the last change. */
  #cursor = "";
  #aborting: Promise<void> | null = null;

  constructor(found: Found, session: Session, publish: (event: ChatEvent) => void) {
    this.#found = found;
    this.#transport = transportOf(found.api);
    this.#session = { ...session, waiting_for: null };
    this.#publish = publish;
  }

  /** Whether the agent works, or has an open prompt. */
  get isBusy(): boolean {
    const isIdle = this.#session.activity === "idle";
    return this.#open.size > 0 || (this.#conversation.isWorking && !isIdle);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** What the agent waits for. */
  get ask(): WaitingFor | null {
    return this.#session.waiting_for;
  }

  /** Whether the agent answers a prompt of this client. */
  isStarted(promptId: string): boolean {
    return this.#open.get(promptId) === "running" || this.#conversation.turnOf(promptId) !== null;
  }

  /**
   * Publishes events until `end`.
   * @throws CliError `session_stopped`, `session_failed`, `session_deleted`; permanent refusals, and the last failure after two
   *   minutes without a connection
   */
  async listen(): Promise<void> {
    await Promise.all([this.#followConversation(), this.#followSession()]);
  }

  end(): void {
    this.#stop.abort();
  }

  /**
   * Queues a prompt. What the agent does is published, and its end.
   * @param onId receives the prompt's id before it is sent
   * @throws CliError if it was not accepted
   */
  async prompt(text: string, onId: (promptId: string) => void, files: readonly Attachment[]): Promise<void> {
    const prompt_id = crypto.randomUUID();
    onId(prompt_id);
    this.#open.set(prompt_id, "queued");
    const body: CreatePromptBody = { prompt_id, text };
    if (files.length > 0) body.attachments = attachedIn(files);
    try {
      await this.#retry(() => send(this.#found, body));
    } catch (error) {
      this.#open.delete(prompt_id);
      throw error;
    }
  }

  /** @param answer null: none. @throws CliError */
  async answer({ request_id }: WaitingFor, answer: AnswerBody["answer"]): Promise<void> {
    const body: AnswerBody = { request_id, answer };
    await this.#found.api.call({ path: `${this.#found.path}/answer`, body, slow: true });
  }

  /**
   * Aborts the agent's run; if it has not begun with the own prompts, withdraws those instead. Concurrent calls share one
   * abort.
   */
  abort(): Promise<void> {
    this.#aborting ??= this.#abort().finally(() => {
      this.#aborting = null;
    });
    return this.#aborting;
  }

  async #abort(): Promise<void> {
    const states = [...this.#open.values()];
    const isOwn = states.length === 0 || states.includes("running");
    if (!isOwn && (await this.#withdraw())) return;
    for (let left = ABORT_TRIES; ; left--) {
      try {
        await this.#found.api.call({ method: "POST", path: `${this.#found.path}/abort`, slow: true });
        return;
      } catch (error) {
        if (codeOf(error) !== "nothing_to_abort") throw error;
      }
      if (left <= 1 || this.#open.size === 0) return;
      await sleep(ABORT_DELAY_MS, this.#stop.signal);
    }
  }

  /** Withdraws the own prompts. @returns false: the agent got one of them meanwhile */
  async #withdraw(): Promise<boolean> {
    for (const id of this.#open.keys()) {
      try {
        await this.#found.api.call({ method: "DELETE", path: this.#promptPath(id) });
      } catch (error) {
        if (codeOf(error) === "prompt_not_queued") return false;
        throw error;
      }
    }
    return true;
  }

  async #followConversation(): Promise<void> {
    const { signal } = this.#stop;
    for await (const update of followConversation(this.#transport, this.#found.path, signal))
      this.#onUpdate(update);
  }

  #onUpdate(update: ConversationUpdate): void {
    switch (update.type) {
      case "connected":
        this.#isLost = false;
        if (this.#isCaughtUp) this.#publish({ type: "found" });
        break;
      case "page":
        this.#cursor = update.page.event_id;
        this.#publishAll(this.#conversation.applyPage(update.page.turns));
        if (!this.#isCaughtUp) this.#publish({ type: "caught up" });
        this.#isCaughtUp = true;
        break;
      case "change": {
        const isLast = update.id !== this.#cursor;
        this.#cursor = update.id;
        this.#publishAll(this.#conversation.apply(update.change, isLast));
        break;
      }
      case "lost": {
        const wasConnected = !this.#isLost;
        this.#isLost = true;
        if (wasConnected) this.#publish(update);
        break;
      }
      case "deleted":
        throw deletedError(this.#session);
    }
  }

  async #followSession(): Promise<void> {
    for await (const event of follow(this.#transport, this.#found.path, this.#stop.signal))
      await this.#onSessionEvent(event);
  }

  async #onSessionEvent(event: FollowEvent): Promise<void> {
    switch (event.type) {
      case "session": {
        await this.#onSession(event.session);
        const missed = this.#isBehind ? [...this.#open.keys()] : [];
        this.#isBehind = false;
        for (const id of missed) await this.#settle(id);
        break;
      }
      case "prompt": {
        const { prompt_id: id, state, ended_at } = event.prompt;
        if (!this.#open.has(id)) break;
        this.#open.set(id, state);
        if (state === "running") this.#publish({ type: "started" });
        if (ended_at !== null) await this.#settle(id);
        break;
      }
      case "lost":
        this.#isBehind = true;
        break;
      case "deleted":
        throw deletedError(this.#session);
    }
  }

  async #onSession(session: Session): Promise<void> {
    const before = this.#session;
    // what was said before the request comes first
    const ask = session.waiting_for;
    const isNew = ask !== null && ask.request_id !== before.waiting_for?.request_id;
    if (isNew) await this.#catchUp();
    this.#session = session;
    if (before.waiting_for !== null && (ask === null || isNew)) this.#publish({ type: "answered" });
    if (ask !== null && isNew) this.#publish({ type: "asked", ask });
    if (isAlive(before)) requireOpen(session);
  }

  /** Publishes the end of a prompt, after all that the agent did to answer it. */
  async #settle(promptId: string): Promise<void> {
    const prompt = await this.#readPrompt(promptId);
    if (prompt === null || prompt.ended_at === null) return;
    await this.#catchUp();
    if (!this.#open.delete(promptId)) return;
    const found = this.#conversation.turnOf(promptId);
    this.#publish({
      type: "ended",
      promptId,
      turnId: found?.turn.turn_id ?? null,
      outcome: outcomeOf(prompt, found?.outcome ?? "unanswered"),
      error: prompt.error,
      text: prompt.answer ?? "",
    });
  }

  /** @returns null if the server does not have it: it is on its way */
  async #readPrompt(promptId: string): Promise<Prompt | null> {
    try {
      const path = this.#promptPath(promptId);
      return (await this.#retry(() => this.#found.api.call<{ prompt: Prompt }>({ path }))).prompt;
    } catch (error) {
      if (codeOf(error) === "not_found") return null;
      throw error;
    }
  }

  /** The two streams are not in step: publishes what is stored so far. */
  async #catchUp(): Promise<void> {
    const { turns } = await this.#retry(() => readPage(this.#transport, this.#found.path, null));
    this.#publishAll(this.#conversation.applyPage(turns));
  }

  #promptPath(promptId: string): string {
    return `${this.#found.path}${path`/prompts/${promptId}`}`;
  }

  #publishAll(events: readonly ConversationEvent[]): void {
    for (const event of events) this.#publish(event);
  }

  /** Retries an idempotent request, with backoff. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    for (let left = TRIES, delay = FIRST_DELAY_MS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (left <= 1 || !isTransient(error) || this.#stop.signal.aborted) throw error;
      }
      await sleep(delay, this.#stop.signal);
      delay = Math.min(delay * 2, MAX_DELAY_MS);
    }
  }
}

/** @param ofTurn how the turn ended that answers the prompt */
function outcomeOf({ state }: Prompt, ofTurn: Outcome): Outcome {
  if (state === "failed" || state === "aborted") return state;
  if (state === "answered") return "completed";
  return ofTurn === "rejected" || ofTurn === "unanswered" ? ofTurn : "cut_off";
}
