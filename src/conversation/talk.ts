import { newMessageId } from "../contract/message-id.ts";
import { Conversation } from "./conversation.ts";
import type { Ask, RunError } from "./events.ts";
import type { Happening } from "./happening.ts";
import { listen } from "./listen.ts";
import type { Outcome, Result } from "./outcome.ts";
import { later, type Patience, rest } from "./patience.ts";
import { passes, type Runtime } from "./runtime.ts";

/** What a chat is told. */
export type News =
  | Happening
  /** Everything before is history now. */
  | { type: "caught up" }
  | { type: "lost"; reason: string }
  | { type: "found" }
  | { type: "ended"; messageId: string; outcome: Outcome; error: RunError | null; text: string };

/** Looks at a run that seems to be over, until it is known what became of it: what is last said comes a little later. */
const LOOKS_MS = [0, 200, 500, 1000, 1500];
/** How long a prompt may be in a cold runtime's hands before it shows. */
const UNSEEN_MS = 30_000;
const UNSEEN_PAUSE_MS = 1500;
/** A prompt after which nothing is heard is looked after. */
const QUIET_MS = 8000;
/** A prompt is said again where it is not known whether it has arrived. */
const PROMPT_TRIES = 5;
const PROMPT_PAUSE_MS = 400;
/** An abort counts once the run has rested this often in a row: one that comes too early is lost. */
const RESTS = 4;
const REST_PAUSE_MS = 400;
const ABORT_MS = 15_000;

/** Talks with the agent of one session: says prompts, and tells what becomes of them. */
export class Talk {
  readonly #runtime: Runtime;
  readonly #tell: (news: News) => void;
  readonly #stop = new AbortController();
  readonly #patience: Patience | undefined;
  /** Own prompts that nothing has become of yet, with the time at which they were said. */
  readonly #open = new Map<string, number>();
  readonly #ready = Promise.withResolvers<Conversation>();
  #conversation: Conversation | null = null;
  #isLost = true;
  #settling = false;
  #isUnsettled = false;
  #aborting: Promise<void> | null = null;
  #wasAborted = false;

  constructor(runtime: Runtime, tell: (news: News) => void, patience?: Patience) {
    this.#runtime = runtime;
    this.#tell = tell;
    this.#patience = patience;
  }

  /** Whether the agent works, or is about to. */
  get isBusy(): boolean {
    return this.#open.size > 0 || (this.#conversation?.status.type ?? "idle") !== "idle";
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  get asks(): Ask[] {
    return this.#conversation?.asks ?? [];
  }

  /** Listens until `end`. @throws what `listen` gives up for. */
  async listen(): Promise<void> {
    const id = await this.#patiently(() => this.#runtime.conversation());
    const conversation = new Conversation(id);
    this.#conversation = conversation;
    let isFirst = true;
    for await (const heard of listen(this.#runtime, id, this.#stop.signal, this.#patience)) {
      if (heard.type === "event") {
        this.#all(conversation.hear(heard.event, heard.id));
        const { type } = heard.event;
        if (type === "error" || (type === "status" && conversation.status.type === "idle")) this.#settle();
      } else if (heard.type === "snapshot") {
        this.#isLost = false;
        if (!isFirst) this.#tell({ type: "found" });
        this.#all(conversation.catchUp(heard.snapshot));
        if (conversation.status.type === "idle" && this.#open.size === 0) this.#all(conversation.cutOff());
        this.#ready.resolve(conversation);
        if (isFirst) this.#tell({ type: "caught up" });
        isFirst = false;
        this.#settle();
      } else {
        const isNews = !this.#isLost;
        this.#isLost = true;
        conversation.lose();
        if (isNews) this.#tell(heard);
      }
    }
  }

  end(): void {
    this.#stop.abort();
  }

  /**
   * Asks something of the agent, once it is reached; the answer is told.
   * @param name hears the message's id before it is said
   * @throws when it did not get there
   */
  async say(words: string, name: (messageId: string) => void = () => {}): Promise<string> {
    const conversation = await this.#ready.promise;
    const messageId = newMessageId(this.#runtime.now());
    name(messageId);
    conversation.forgetErrors();
    this.#wasAborted = false;
    this.#open.set(messageId, performance.now());
    try {
      await this.#patiently(() => this.#runtime.prompt(conversation.id, messageId, words), PROMPT_TRIES);
    } catch (error) {
      this.#open.delete(messageId);
      throw error;
    }
    later(QUIET_MS, () => this.#open.has(messageId) && this.#settle());
    return messageId;
  }

  /** Ends what the agent does, and what it waits for. Told twice it is done once. */
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
    for (let rests = 0; rests < RESTS && performance.now() < until; ) {
      if (this.#stop.signal.aborted) return;
      try {
        if (rests === 0) await this.#runtime.abort(id);
        rests = (await this.#runtime.isIdle(id)) ? rests + 1 : 0;
      } catch (error) {
        if (!passes(error)) throw error;
      }
      if (rests < RESTS) await rest(REST_PAUSE_MS, this.#stop.signal);
    }
    await this.#refuseAll();
    this.#settle();
  }

  /** What an aborted run had asked would stay in the runtime's list for ever. */
  async #refuseAll(): Promise<void> {
    const conversation = this.#known();
    const left = await this.#runtime.asks().catch(() => []);
    for (const ask of left) {
      if (conversation.isOurs(ask.sessionId)) await this.#runtime.refuse(ask).catch(() => {});
    }
  }

  /** Finds out what became of the own prompts, and tells it once it is certain. */
  async #settle(): Promise<void> {
    this.#isUnsettled = true;
    if (this.#settling || this.#open.size === 0) return;
    this.#settling = true;
    try {
      // what is told while it is looked calls for another look
      while (this.#isUnsettled) {
        this.#isUnsettled = false;
        await this.#look();
      }
    } catch {
      // what cannot be looked at now is looked at again
      later(UNSEEN_PAUSE_MS, () => this.#settle());
    } finally {
      this.#settling = false;
    }
  }

  async #look(): Promise<void> {
    const conversation = this.#known();
    const { signal } = this.#stop;
    for (let look = 0; this.#open.size > 0 && !signal.aborted; look++) {
      await rest(LOOKS_MS[look] ?? UNSEEN_PAUSE_MS, signal);
      if (this.#isLost || signal.aborted) return;
      const { turns } = conversation;
      const snapshot = await this.#runtime.snapshot(conversation.id);
      this.#all(conversation.catchUp(snapshot, turns));
      if (turns !== conversation.turns) continue;
      if (conversation.status.type !== "idle") return;
      const isLast = look >= LOOKS_MS.length - 1;
      for (const [messageId, since] of this.#open) {
        const found = conversation.outcome(messageId);
        const isCertain = !["cut_off", "unanswered"].includes(found.outcome);
        const isUnseen = !found.isSeen && performance.now() - since < UNSEEN_MS;
        if (isCertain || (isLast && (!isUnseen || this.#wasAborted))) this.#close(messageId, found);
      }
    }
  }

  #close(messageId: string, found: Result): void {
    const isOurs = this.#wasAborted && ["cut_off", "unanswered", "rejected"].includes(found.outcome);
    const { error, text } = found;
    this.#open.delete(messageId);
    this.#tell({ type: "ended", messageId, outcome: isOurs ? "aborted" : found.outcome, error, text });
  }

  allow(ask: Ask, reply: "once" | "always" | "reject"): Promise<void> {
    return this.#patiently(() => this.#runtime.allow(ask.id, reply), PROMPT_TRIES);
  }

  answer(ask: Ask, answers: string[][]): Promise<void> {
    return this.#patiently(() => this.#runtime.tell(ask.id, answers), PROMPT_TRIES);
  }

  refuse(ask: Ask): Promise<void> {
    return this.#patiently(() => this.#runtime.refuse(ask), PROMPT_TRIES);
  }

  #all(happenings: readonly Happening[]): void {
    for (const happening of happenings) this.#tell(happening);
  }

  /** For what may be done twice. Without `tries`: as long as a runtime takes to start again. */
  async #patiently<T>(work: () => Promise<T>, tries = PROMPT_TRIES * 6): Promise<T> {
    for (let left = tries, pause = PROMPT_PAUSE_MS; ; left--) {
      try {
        return await work();
      } catch (error) {
        if (left <= 1 || !passes(error) || this.#stop.signal.aborted) throw error;
      }
      await rest(pause, this.#stop.signal);
      pause = Math.min(pause * 2, 4000);
    }
  }

  #known(): Conversation {
    if (this.#conversation) return this.#conversation;
    throw new Error("the conversation is not known yet");
  }
}
