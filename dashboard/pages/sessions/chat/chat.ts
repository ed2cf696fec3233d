import type { Attachment } from "../../../../src/contract/attachment.ts";
import type { CreatePromptBody } from "../../../../src/contract/prompt.ts";
import type { Session } from "../../../../src/contract/session.ts";
import { ChatClient, type ChatEvent } from "../../../../src/conversation/chat-client.ts";
import { type ReconnectPolicy, sleep } from "../../../../src/conversation/reconnect.ts";
import { type Runtime, runtimeOf } from "../../../../src/conversation/runtime.ts";
import type { Ask } from "../../../../src/conversation/runtime-event.ts";
import { retryText } from "../../../../src/conversation/text.ts";
import { isTransient } from "../../../../src/conversation/transport.ts";
import { call } from "../../../api/call.ts";
import { ApiFailure } from "../../../api/failure.ts";
import { newId } from "../../../api/new-id.ts";
import { path } from "../../../api/path.ts";
import { REACH } from "../../../api/reach.ts";
import { type Item, Transcript } from "./transcript.ts";

interface Pending {
  key: string;
  /** The id of the message; null until it is sent. */
  id: string | null;
  text: string;
}

/** The state of a conversation, for display. */
export interface ChatState {
  items: readonly Item[];
  /** Sent prompts that the runtime has not confirmed yet, the oldest first. */
  pending: readonly Pending[];
  asks: readonly Ask[];
  isBusy: boolean;
  /** What the agent is doing, or why it waits; empty if unknown. */
  activity: string;
  connection: "connecting" | "connected" | "lost" | "failed";
  /** Why the connection failed. */
  failure: unknown;
  /** The text of a finished answer, for screen readers. */
  announced: string;
  /**
   * What `items` has of the sandbox's conversation: nothing before the page has caught up with the sandbox, and of a long
   * one only the end.
   */
  extent: "none" | "end" | "all";
  /** How often the page has caught up, with this sandbox or another. */
  catchUps: number;
}

/** The runtime sends a keep-alive every 10 seconds. A page retries without a limit. */
const PATIENCE: ReconnectPolicy = {
  silentSeconds: 25,
  firstDelayMs: 200,
  maxDelayMs: 3_000,
  giveUpMs: Number.POSITIVE_INFINITY,
};
/** Maximum length of an answer that screen readers announce. */
const ANNOUNCED_MAX = 500;
const EMPTY: ChatState = {
  items: [],
  pending: [],
  asks: [],
  isBusy: false,
  activity: "",
  connection: "connecting",
  failure: null,
  announced: "",
  extent: "none",
  catchUps: 0,
};

/** The conversation with the agent of a session. It notifies its subscribers at most once per frame. */
export class Chat {
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  #state = EMPTY;
  #talk: ChatClient | null = null;
  #transcript = new Transcript();
  #frame: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  get state(): ChatState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Connects or reconnects; `end` disconnects. */
  connect(): void {
    this.#talk?.end();
    // keep the current items until the new transcript is complete
    const transcript = new Transcript();
    const talk = new ChatClient(this.#runtime(), (news) => this.#onEvent(news, talk, transcript), PATIENCE);
    this.#talk = talk;
    this.#change({ connection: "connecting", failure: null });
    talk.listen().catch((failure: unknown) => {
      if (this.#talk === talk) this.#change({ connection: "failed", failure, isBusy: false, asks: [] });
    });
  }

  end(): void {
    this.#talk?.end();
    this.#talk = null;
    this.#change({ isBusy: false, asks: [], activity: "", connection: "connecting" });
  }

  /** The sandbox has ended. Its items stay until the page has caught up with the next one. */
  forget(): void {
    this.#change({ extent: "none" });
  }

  /** The place of a turn among those of `items`, from 1; 0 if it is not among them. */
  placeOf(turnId: string): number {
    return this.#transcript.placeOf(turnId);
  }

  hasTurn(turnId: string): boolean {
    return this.#transcript.has(turnId);
  }

  /** Whether `items` has a part. */
  hasPart(partId: string): boolean {
    return this.#transcript.hasItem(partId);
  }

  /** Sends a prompt to the agent. The page shows it at once. @throws ApiFailure if it could not be sent */
  async send(text: string, files: readonly Attachment[]): Promise<void> {
    const talk = this.#talk;
    if (talk === null) throw new ApiFailure(0, "not_running", "The session is not running.");
    const key = newId();
    this.#change({ pending: [...this.#state.pending, { key, id: null, text }], announced: "" });
    const name = (id: string) =>
      this.#change({
        pending: this.#state.pending.map((each) => (each.key === key ? { ...each, id } : each)),
      });
    try {
      await talk.prompt(text, name, files);
      this.#refresh();
    } catch (error) {
      this.#change({ pending: this.#state.pending.filter((each) => each.key !== key) });
      throw error;
    }
  }

  async abort(): Promise<void> {
    await this.#talk?.abort();
    this.#refresh();
  }

  async allow(ask: Ask, reply: "once" | "always" | "reject"): Promise<void> {
    await this.#talk?.allow(ask, reply);
  }

  async answer(ask: Ask, answers: string[][]): Promise<void> {
    await this.#talk?.answer(ask, answers);
  }

  async refuse(ask: Ask): Promise<void> {
    await this.#talk?.refuse(ask);
  }

  #runtime(): Runtime {
    const { project_id, session_id } = this.#session;
    return runtimeOf(REACH, this.#session, async () => {
      const own = path`/projects/${project_id}/sessions/${session_id}`;
      const { status } = await call<Session>("GET", own);
      if (status === "stopped" || status === "failed") {
        throw new ApiFailure(0, `session_${status}`, `The session is ${status}.`);
      }
    });
  }

  #onEvent(news: ChatEvent, talk: ChatClient, transcript: Transcript): void {
    if (this.#talk !== talk) return;
    transcript.add(news, Date.now());
    if (news.type === "caught up") {
      this.#transcript = transcript;
      this.#change({ extent: news.isWhole ? "all" : "end", catchUps: this.#state.catchUps + 1 });
    }
    if (news.type === "lost") this.#change({ connection: "lost", failure: news.reason });
    if (news.type === "caught up" || news.type === "found") {
      this.#change({ connection: "connected", failure: null });
    }
    if (news.type === "tool") {
      const { state, tool, title } = news.use;
      this.#change({ activity: state === "running" ? `${tool} ${title}`.trim() : "" });
    }
    if (news.type === "status") {
      this.#change({ activity: news.status.type === "retry" ? retryText(news.status, Date.now()) : "" });
      const isNews = this.#state.connection === "connected" && news.status.type === "idle";
      if (isNews) this.#change({ announced: transcript.lastWords.slice(0, ANNOUNCED_MAX) });
    }
    this.#refresh();
  }

  #refresh(): void {
    this.#change({
      items: this.#transcript.items,
      pending: this.#state.pending.filter(({ id }) => id === null || !this.#transcript.has(id)),
      asks: this.#talk?.asks ?? [],
      isBusy: this.#talk?.isBusy ?? false,
    });
  }

  #change(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = null;
      for (const listener of this.#listeners) listener();
    });
  }
}

/**
 * Queues a prompt for a session that is not running, which starts it. The id of the prompt makes retries idempotent.
 * @throws ApiFailure
 */
export async function queuePrompt(
  session: Session,
  text: string,
  files: readonly Attachment[],
): Promise<void> {
  const { project_id, session_id } = session;
  const attachments = files.map(({ name, data }) => ({ name, data }));
  const body: CreatePromptBody = {
    text,
    prompt_id: newId(),
    ...(attachments.length > 0 && { attachments }),
  };
  for (let left = ATTEMPTS; ; left--) {
    try {
      await call("POST", path`/projects/${project_id}/sessions/${session_id}/prompt`, { body });
      return;
    } catch (error) {
      if (left <= 1 || !isTransient(error)) throw error;
    }
    await sleep(RETRY_DELAY_MS, AbortSignal.timeout(RETRY_DELAY_MS));
  }
}

const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;
