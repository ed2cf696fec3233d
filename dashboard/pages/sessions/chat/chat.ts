import type { Attachment } from "../../../../src/contract/attachment.ts";
import type { CreatePromptBody } from "../../../../src/contract/prompt.ts";
import type { AnswerBody, Session } from "../../../../src/contract/session.ts";
import type { Turn } from "../../../../src/contract/turn.ts";
import {
  type ConversationUpdate,
  followConversation,
  readPage,
} from "../../../../src/conversation/follow-conversation.ts";
import { type ReconnectPolicy, sleep } from "../../../../src/conversation/reconnect.ts";
import { codeOf, isTransient } from "../../../../src/conversation/transport.ts";
import { changeTurns, joinTurns } from "../../../../src/conversation/turns.ts";
import { call } from "../../../api/call.ts";
import { newId } from "../../../api/new-id.ts";
import { path } from "../../../api/path.ts";
import { REACH } from "../../../api/reach.ts";

interface Pending {
  /** The id of the prompt. */
  id: string;
  text: string;
}

/** The state of a conversation, for display. */
export interface ChatState {
  /** The newest turns, in order. */
  turns: readonly Turn[];
  /** Sent prompts that are not in the conversation yet, the oldest first. */
  pending: readonly Pending[];
  connection: "connecting" | "connected" | "lost" | "failed";
  /** Why the connection was lost. */
  reason: string;
  /** Why the connection failed. */
  failure: unknown;
  /** The text of a finished answer, for screen readers. */
  announced: string;
  /** Whether there are earlier turns. */
  hasEarlier: boolean;
  isLoading: boolean;
  /** Why earlier turns were not loaded. */
  error: unknown;
}

/** The server sends a keep-alive every 15 seconds. A page retries without a limit. */
const PATIENCE: ReconnectPolicy = {
  silentSeconds: 40,
  firstDelayMs: 200,
  maxDelayMs: 3_000,
  giveUpMs: Number.POSITIVE_INFINITY,
};
/** Maximum length of an answer that screen readers announce. */
const ANNOUNCED_MAX = 500;
/** Parts after which a page that shows the end drops all but the newest page: pages stay open for days. */
const PARTS_MAX = 4_000;
const EMPTY: ChatState = {
  turns: [],
  pending: [],
  connection: "connecting",
  reason: "",
  failure: null,
  announced: "",
  hasEarlier: false,
  isLoading: false,
  error: null,
};

/** The conversation with the agent of a session. It notifies its subscribers at most once per frame. */
export class Chat {
  readonly #session: Session;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #state = EMPTY;
  #stream: AbortController | null = null;
  /** Where the stream continues. */
  #cursor = "";
  /** The page of earlier turns; null: there is none. */
  #earlier: string | null = null;
  #frame: number | null = null;

  constructor(session: Session) {
    this.#session = session;
    this.#path = path`/projects/${session.project_id}/sessions/${session.session_id}`;
  }

  get state(): ChatState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Connects, or continues where it was; `end` disconnects. */
  connect(): void {
    this.#stream?.abort();
    const stream = new AbortController();
    this.#stream = stream;
    this.#change({ connection: "connecting", failure: null });
    this.#follow(stream.signal).catch((failure: unknown) => {
      if (!stream.signal.aborted) this.#change({ connection: "failed", failure });
    });
  }

  end(): void {
    this.#stream?.abort();
    this.#stream = null;
  }

  /** Drops old turns if there are many, when the end is shown. */
  trim(): void {
    const parts = this.#state.turns.reduce((sum, turn) => sum + turn.parts.length, 0);
    if (parts <= PARTS_MAX || this.#state.isLoading) return;
    this.#cursor = "";
    this.connect();
  }

  /** Loads the page of turns before the ones that are shown. */
  async showEarlier(): Promise<void> {
    const cursor = this.#earlier;
    if (cursor === null || this.#state.isLoading) return;
    this.#change({ isLoading: true, error: null });
    try {
      const { turns, next_cursor = null } = await readPage(REACH, this.#path, cursor);
      if (this.#earlier !== cursor) return;
      this.#earlier = next_cursor;
      this.#change({ turns: joinTurns(turns, this.#state.turns), hasEarlier: next_cursor !== null });
    } catch (error) {
      this.#change({ error });
    } finally {
      this.#change({ isLoading: false });
    }
  }

  /** Sends a prompt to the agent, which starts if it does not run. The page shows it at once. @throws ApiFailure */
  async send(text: string, files: readonly Attachment[]): Promise<void> {
    const id = newId();
    this.#change({ pending: [...this.#state.pending, { id, text }], announced: "" });
    try {
      await this.#post(id, text, files);
    } catch (error) {
      this.#change({ pending: this.#state.pending.filter((each) => each.id !== id) });
      throw error;
    }
  }

  /** Retries: the id makes the prompt idempotent. */
  async #post(prompt_id: string, text: string, files: readonly Attachment[]): Promise<void> {
    const attachments = files.map(({ name, data }) => ({ name, data }));
    const body: CreatePromptBody = { text, prompt_id, ...(attachments.length > 0 && { attachments }) };
    for (let left = ATTEMPTS; ; left--) {
      try {
        await call("POST", `${this.#path}/prompt`, { body });
        return;
      } catch (error) {
        if (left <= 1 || !isTransient(error)) throw error;
      }
      await sleep(RETRY_DELAY_MS);
    }
  }

  /** @throws ApiFailure */
  async abort(): Promise<void> {
    try {
      await call("POST", `${this.#path}/abort`);
    } catch (error) {
      // it has ended meanwhile
      if (codeOf(error) !== "nothing_to_abort") throw error;
    }
  }

  /** @param answer null: none. @throws ApiFailure */
  async answer(request_id: string, answer: AnswerBody["answer"]): Promise<void> {
    const body: AnswerBody = { request_id, answer };
    await call("POST", `${this.#path}/answer`, { body });
  }

  /** The path of a part, below `/v1`. */
  partPath(partId: string): string {
    return this.#path + path`/conversation/parts/${partId}`;
  }

  /** The key of a part's query. */
  partKey(partId: string): string[] {
    const { project_id, session_id } = this.#session;
    return [project_id, "conversation", session_id, partId];
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const options = { policy: PATIENCE, begin: this.#cursor };
    for await (const update of followConversation(REACH, this.#path, signal, options)) {
      if (signal.aborted) return;
      this.#update(update);
    }
  }

  #update(update: ConversationUpdate): void {
    switch (update.type) {
      case "connected":
        this.#change({ connection: "connected" });
        break;
      case "lost":
        this.#change({ connection: "lost", reason: update.reason });
        break;
      case "page": {
        const { turns, next_cursor = null, event_id } = update.page;
        this.#cursor = event_id;
        this.#earlier = next_cursor;
        this.#setTurns(turns, { hasEarlier: next_cursor !== null });
        break;
      }
      case "change": {
        this.#cursor = update.id;
        const before = this.#state.turns.at(-1);
        const turns = changeTurns(this.#state.turns, update.change, this.#state.hasEarlier);
        const last = turns.at(-1);
        const isEnd =
          before?.state === "working" && last?.turn_id === before.turn_id && last.state === "done";
        this.#setTurns(turns, isEnd ? { announced: lastWords(last).slice(0, ANNOUNCED_MAX) } : {});
        break;
      }
      case "deleted":
        // the page of the session shows that
        break;
    }
  }

  #setTurns(turns: readonly Turn[], more: Partial<ChatState>): void {
    const isPending = ({ id }: Pending) => turns.every(({ prompt_id }) => prompt_id !== id);
    const { pending } = this.#state;
    this.#change({ turns, pending: pending.length === 0 ? pending : pending.filter(isPending), ...more });
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

function lastWords({ parts }: Turn): string {
  return parts.findLast(({ kind, parent_id }) => kind === "text" && parent_id === null)?.text ?? "";
}

const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;
