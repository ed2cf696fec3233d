import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseJson } from "../../src/contract/json.ts";
import type { Message, MessageInfo, Part, SessionInfo, Todo } from "./messages.ts";

/** What a process of the adapter leaves to the next one. */
export interface Kept {
  session: SessionInfo | null;
  /** The agent's own id of the conversation, with which it is resumed. */
  agentSession: string | null;
  messages: Message[];
  todos: Todo[];
}

export type Entry =
  | { session: SessionInfo }
  | { agentSession: string | null }
  | { info: MessageInfo }
  | { part: Part }
  /** More of a text. */
  | { grown: { message: string; part: string; text: string } }
  | { todos: Todo[] };

/** Messages that are kept, the last ones. */
const MESSAGES_MAX = 1_000;

/**
 * The conversation in a file, an entry a line, so that a killed process loses nothing that a client has seen. It is
 * written anew at each start; an incomplete last line is ignored.
 */
export class Journal {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads what is there, and writes it anew without what is out of date. */
  open(): Kept {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const kept = this.#read();
    const entries: Entry[] = [
      ...(kept.session ? [{ session: kept.session }] : []),
      { agentSession: kept.agentSession },
      ...kept.messages.flatMap(({ info, parts }) => [{ info }, ...parts.map((part) => ({ part }))]),
      { todos: kept.todos },
    ];
    const temporary = `${this.#path}.new`;
    writeFileSync(temporary, entries.map(lineOf).join(""), { mode: 0o600 });
    renameSync(temporary, this.#path);
    return kept;
  }

  append(entry: Entry): void {
    appendFileSync(this.#path, lineOf(entry));
  }

  #read(): Kept {
    const kept: Kept = { session: null, agentSession: null, messages: [], todos: [] };
    const byId = new Map<string, Message>();
    for (const line of linesOf(this.#path)) {
      const entry = parseJson(line);
      if (isEntry(entry)) apply(entry, kept, byId);
    }
    kept.messages = [...byId.values()].slice(-MESSAGES_MAX);
    return kept;
  }
}

function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** The file is this program's own: a line is whole, or is not JSON. */
function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null;
}

function apply(entry: Entry, kept: Kept, byId: Map<string, Message>): void {
  if ("session" in entry) kept.session = entry.session;
  else if ("agentSession" in entry) kept.agentSession = entry.agentSession;
  else if ("todos" in entry) kept.todos = entry.todos;
  else if ("info" in entry) {
    const message = byId.get(entry.info.id);
    if (message) message.info = entry.info;
    else byId.set(entry.info.id, { info: entry.info, parts: [] });
  } else if ("part" in entry) {
    const parts = byId.get(entry.part.messageID)?.parts ?? [];
    const at = parts.findIndex(({ id }) => id === entry.part.id);
    if (at < 0) parts.push(entry.part);
    else parts[at] = entry.part;
  } else {
    const part = byId.get(entry.grown.message)?.parts.find(({ id }) => id === entry.grown.part);
    if (part && "text" in part) part.text += entry.grown.text;
  }
}
