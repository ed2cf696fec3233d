import { Journal } from "./journal.ts";
import {
  type Message,
  type MessageInfo,
  newSessionId,
  type Part,
  type SessionInfo,
  type TextPart,
  type Todo,
} from "./messages.ts";

/** An event of the runtime's `GET /event`. */
export interface Event {
  type: string;
  properties: Record<string, unknown>;
}

/** How opencode names a conversation without a title, before the time. */
const UNTITLED = "New session - ";
/** Messages that are remembered, the last ones. */
const MESSAGES_MAX = 1_000;

/** The one conversation of a sandbox, kept in a file. Each change is written, and then reported as an event. */
export class Conversation {
  readonly #journal: Journal;
  readonly #listeners = new Set<(event: Event) => void>();
  #session: SessionInfo | null;
  #agentSession: string | null;
  #messages: Message[];
  #todos: Todo[];

  /** @param path the file; created if it does not exist */
  constructor(path: string) {
    this.#journal = new Journal(path);
    const { session, agentSession, messages, todos } = this.#journal.open();
    this.#session = session;
    this.#agentSession = agentSession;
    this.#messages = messages;
    this.#todos = todos;
  }

  get session(): SessionInfo | null {
    return this.#session;
  }

  /** The agent's own id of the conversation; null: none, or it was lost. */
  get agentSession(): string | null {
    return this.#agentSession;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get todos(): readonly Todo[] {
    return this.#todos;
  }

  find(id: string): Message | undefined {
    return this.#messages.find(({ info }) => info.id === id);
  }

  /** Opens the conversation, unless it is open. */
  open(title: string): SessionInfo {
    if (this.#session) return this.#session;
    const now = Date.now();
    this.#session = {
      id: newSessionId(),
      title: title || `${UNTITLED}${new Date().toISOString()}`,
      time: { created: now, updated: now },
    };
    this.#journal.append({ session: this.#session });
    this.emit("session.created", { info: this.#session });
    return this.#session;
  }

  setAgentSession(id: string | null): void {
    if (this.#agentSession === id) return;
    this.#agentSession = id;
    this.#journal.append({ agentSession: id });
  }

  /** Names a conversation that has no title: an agent that resumes one may name it again. */
  setTitle(title: string): void {
    if (!this.#session?.title.startsWith(UNTITLED) || title === "") return;
    this.#session = { ...this.#session, title };
    this.#saveSession();
  }

  setMessage(info: MessageInfo): void {
    const known = this.find(info.id);
    if (known) known.info = info;
    else this.#messages = [...this.#messages.slice(1 - MESSAGES_MAX), { info, parts: [] }];
    this.#journal.append({ info });
    this.emit("message.updated", { sessionID: info.sessionID, info });
    if (!known && this.#session) {
      this.#session = { ...this.#session, time: { ...this.#session.time, updated: Date.now() } };
      this.#saveSession();
    }
  }

  setPart(part: Part): void {
    const parts = this.find(part.messageID)?.parts;
    if (!parts) return;
    const at = parts.findIndex(({ id }) => id === part.id);
    if (at < 0) parts.push(part);
    else parts[at] = part;
    this.#journal.append({ part });
    this.emit("message.part.updated", { sessionID: part.sessionID, part });
  }

  /** Appends to a text. */
  grow(part: TextPart, delta: string): void {
    const offset = part.text.length;
    part.text += delta;
    this.#journal.append({ grown: { message: part.messageID, part: part.id, text: delta } });
    const { sessionID, messageID, id: partID } = part;
    this.emit("message.part.delta", { sessionID, messageID, partID, field: "text", delta, offset });
  }

  setTodos(todos: Todo[]): void {
    this.#todos = todos;
    this.#journal.append({ todos });
    this.emit("todo.updated", { sessionID: this.#session?.id, todos });
  }

  emit(type: string, properties: Record<string, unknown>): void {
    for (const listener of this.#listeners) listener({ type, properties });
  }

  /** @returns ends the subscription */
  subscribe(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #saveSession(): void {
    if (!this.#session) return;
    this.#journal.append({ session: this.#session });
    this.emit("session.updated", { info: this.#session });
  }
}
