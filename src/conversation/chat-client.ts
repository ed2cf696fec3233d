import type { Attachment } from "../contract/attachment.ts";
import { newMessageId } from "../contract/message-id.ts";
import { Conversation } from "./conversation.ts";
import type { ConversationEvent } from "./conversation-event.ts";
import type { Outcome, Result } from "./outcome.ts";
import { type ReconnectPolicy, setUnrefTimeout, sleep } from "./reconnect.ts";
import { isTransient, type Runtime, SNAPSHOT_MESSAGES } from "./runtime.ts";
import type { Ask, RunError } from "./runtime-event.ts";
import { subscribe } from "./subscribe.ts";

/** What a chat shows. */
export type ChatEvent =
  | ConversationEvent
  /** Every event before this one is history; `isWhole` if that began with the runtime's first message. */
  | { type: "caught up"; isWhole: boolean }
  | { type: "lost"; reason: string }
  | { type: "found" }
  | { type: "ended"; messageId: string; outcome: Outcome; error: RunError | null; text: string };

/** Delays between the checks of a run that seems to be over: its last messages may arrive a little later. */
const CHECK_DELAYS_MS = [0, 200, 500, 1000, 1500];
/** How long a cold runtime may take until a prompt shows in its messages. */
const UNSEEN_MS = 30_000;
const UNSEEN_DELAY_MS = 1500;
/** A prompt without any event for this long is checked. */
const QUIET_MS = 8000;
/** Attempts to send a prompt. A retry is safe: the message id makes it idempotent. */
const PROMPT_TRIES = 5;
const PROMPT_DELAY_MS = 400;
/** An abort is done after this many idle checks in a row: the runtime ignores an abort that comes too early. */
const IDLE_CHECKS = 4;
const IDLE_CHECK_DELAY_MS = 400;
const ABORT_MS = 15_000;

/** Sends prompts to the agent of one session, and publishes the events of the conversation and the outcomes. */
export class ChatClient {
  readonly #runtime: Runtime;
  readonly #publish: (news: ChatEvent) => void;
  readonly #stop = new AbortController();
  readonly #policy: ReconnectPolicy | undefined;
  /** Own prompts without an outcome, with the time at which each was sent. */
  readonly #open = new Map<string, number>();
  readonly #ready = Promise.withResolvers<Conversation>();
  #conversation: Conversation | null = null;
  #isLost = true;
  #settling = false;
  #isUnsettled = false;
  #aborting: Promise<void> | null = null;
  #wasAborted = false;

  constructor(runtime: Runtime, publish: (event: ChatEvent) => void, policy?: ReconnectPolicy) {
    this.#runtime = runtime;
    this.#publish = publish;
    this.#policy = policy;
  }

  /** Whether the agent works, or has an open prompt. */
  get isBusy(): boolean {
    return this.#open.size > 0 || (this.#conversation?.status.type ?? "idle") !== "idle";
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get asks(): Ask[] {
    return this.#conversation?.asks ?? [];
  }

  /** Publishes events until `end`. @throws as `subscribe` */
  async listen(): Promise<void> {
    const id = await this.#retry(() => this.#runtime.conversation());
    const conversation = new Conversation(id);
    this.#conversation = conversation;
    let isFirst = true;
    for await (const update of subscribe(this.#runtime, id, this.#stop.signal, this.#policy)) {
      if (update.type === "event") {
        this.#publishAll(conversation.apply(update.event, update.id));
        const { type } = update.event;
        if (type === "error" || (type === "status" && conversation.status.type === "idle")) this.#settle();
      } else if (update.type === "snapshot") {
        this.#isLost = false;
        if (!isFirst) this.#publish({ type: "found" });
        this.#publishAll(conversation.applySnapshot(update.snapshot));
        if (conversation.status.type === "idle" && this.#open.size === 0)
          this.#publishAll(conversation.checkCutOff());
        this.#ready.resolve(conversation);
        const isWhole = update.snapshot.messages.length < SNAPSHOT_MESSAGES;
        if (isFirst) this.#publish({ type: "caught up", isWhole });
        isFirst = false;
        this.#settle();
      } else {
        const wasConnected = !this.#isLost;
        this.#isLost = true;
        conversation.disconnect();
        if (wasConnected) this.#publish(update);
      }
    }
  }

  end(): void {
    this.#stop.abort();
  }

  /**
   * Sends a prompt once the runtime is connected; the answer is published.
   * @param onId receives the message's id before it is sent
   * @throws if it was not accepted
   */
  async prompt(
    text: string,
    onId: (messageId: string) => void = () => {},
    files: readonly Attachment[] = [],
  ): Promise<string> {
    const conversation = await this.#ready.promise;
    const references = await this.#retry(() => this.#runtime.references(text), PROMPT_TRIES);
    const messageId = newMessageId(this.#runtime.now());
    onId(messageId);
    conversation.clearErrors();
    this.#wasAborted = false;
    this.#open.set(messageId, performance.now());
    try {
      await this.#retry(
        () => this.#runtime.prompt(conversation.id, messageId, text, [...files, ...references]),
        PROMPT_TRIES,
      );
    } catch (error) {
      this.#open.delete(messageId);
      throw error;
    }
    setUnrefTimeout(QUIET_MS, () => this.#open.has(messageId) && this.#settle());
    return messageId;
  }

  /** Aborts the run and rejects its open requests. Concurrent calls share one abort. */
  abort(): Promise<void> {
    this.#aborting ??= this.#abort().finally(() => {
      this.#aborting = null;
    });
    return this.#aborting;
  }

  async #abort(): Promise<void> {
    const { id } = this.#known();
    this.#wasAborted = true;
    const until = performance.now() + ABORT_MS;
    for (let idle = 0; idle < IDLE_CHECKS && performance.now() < until; ) {
      if (this.#stop.signal.aborted) return;
      try {
        if (idle === 0) await this.#runtime.abort(id);
        idle = (await this.#runtime.isIdle(id)) ? idle + 1 : 0;
      } catch (error) {
        if (!isTransient(error)) throw error;
      }
      if (idle < IDLE_CHECKS) await sleep(IDLE_CHECK_DELAY_MS, this.#stop.signal);
    }
    await this.#rejectAll();
    this.#settle();
  }

  /** The runtime keeps the requests of an aborted run in its list until they are answered. */
  async #rejectAll(): Promise<void> {
    const conversation = this.#known();
    const left = await this.#runtime.asks().catch(() => []);
    for (const ask of left) {
      if (conversation.includes(ask.sessionId)) await this.#runtime.refuse(ask).catch(() => {});
    }
  }

  /** Determines the outcomes of the own prompts, and publishes each once it is certain. */
  async #settle(): Promise<void> {
    this.#isUnsettled = true;
    if (this.#settling || this.#open.size === 0) return;
    this.#settling = true;
    try {
      // an event during a check requires another check
      while (this.#isUnsettled) {
        this.#isUnsettled = false;
        await this.#checkPrompts();
      }
    } catch {
      // a failed check is retried
      setUnrefTimeout(UNSEEN_DELAY_MS, () => this.#settle());
    } finally {
      this.#settling = false;
    }
  }

  async #checkPrompts(): Promise<void> {
    const conversation = this.#known();
    const { signal } = this.#stop;
    for (let check = 0; this.#open.size > 0 && !signal.aborted; check++) {
      await sleep(CHECK_DELAYS_MS[check] ?? UNSEEN_DELAY_MS, signal);
      if (this.#isLost || signal.aborted) return;
      const { revision } = conversation;
      const snapshot = await this.#runtime.snapshot(conversation.id);
      this.#publishAll(conversation.applySnapshot(snapshot, revision));
      if (revision !== conversation.revision) continue;
      if (conversation.status.type !== "idle") return;
      const isLast = check >= CHECK_DELAYS_MS.length - 1;
      for (const [messageId, since] of this.#open) {
        const found = conversation.outcome(messageId);
        const isCertain = !["cut_off", "unanswered"].includes(found.outcome);
        const isUnseen = !found.isSeen && performance.now() - since < UNSEEN_MS;
        if (isCertain || (isLast && (!isUnseen || this.#wasAborted))) this.#close(messageId, found);
      }
    }
  }

  #close(messageId: string, found: Result): void {
    const isAbort = this.#wasAborted && ["cut_off", "unanswered", "rejected"].includes(found.outcome);
    const { error, text } = found;
    this.#open.delete(messageId);
    this.#publish({ type: "ended", messageId, outcome: isAbort ? "aborted" : found.outcome, error, text });
  }

  allow(ask: Ask, reply: "once" | "always" | "reject"): Promise<void> {
    return this.#retry(() => this.#runtime.allow(ask.id, reply), PROMPT_TRIES);
  }

  answer(ask: Ask, answers: string[][]): Promise<void> {
    return this.#retry(() => this.#runtime.answer(ask.id, answers), PROMPT_TRIES);
  }

  refuse(ask: Ask): Promise<void> {
    return this.#retry(() => this.#runtime.refuse(ask), PROMPT_TRIES);
  }

  #publishAll(events: readonly ConversationEvent[]): void {
    for (const event of events) this.#publish(event);
  }

  /** Retries an idempotent request, with backoff. By default as long as a runtime takes to restart. */
  async #retry<T>(work: () => Promise<T>, tries = PROMPT_TRIES * 6): Promise<T> {
    for (let left = tries, delay = PROMPT_DELAY_MS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (left <= 1 || !isTransient(error) || this.#stop.signal.aborted) throw error;
      }
      await sleep(delay, this.#stop.signal);
      delay = Math.min(delay * 2, 4000);
    }
  }

  #known(): Conversation {
    if (this.#conversation) return this.#conversation;
    throw new Error("the conversation is not open yet");
  }
}
