import { existsSync, readFileSync } from "node:fs";
import type { Behaviour } from "./opencode.ts";
import { writeWhole } from "./write-whole.ts";

interface Message {
  info: {
    id: string;
    sessionID: string;
    role: "user" | "assistant";
    parentID?: string;
    time: { created: number; completed?: number };
    finish?: string;
    error?: { name: string; data: { message: string } };
  };
  parts: Part[];
}

interface Part {
  id?: string;
  messageID?: string;
  sessionID?: string;
  type: string;
  text: string;
}

interface Store {
  sessions: { id: string; title?: string; parentID?: string; time: { created: number } }[];
  messages: Record<string, Message[]>;
}

interface Run {
  /** Message that it answers. */
  prompt: string;
  from: number;
  until: number;
}

/** What the stand-in of the runtime keeps in its home, as the real one does: conversations, and the runs in them. */
export interface Conversations {
  list(): Store["sessions"];
  create(body: { title?: string; parentID?: string }): Store["sessions"][number];
  remove(id: string): void;
  messages(id: string): Message[];
  busy(): string[];
  prompt(id: string, body: Prompt): void;
  abort(id: string): void;
}

interface Prompt {
  messageID?: string;
  agent?: string;
  model?: { providerID: string; modelID: string };
  parts?: Part[];
}

/** @param emit sends an event to whoever listens */
export function createConversations(
  file: string,
  behaviour: () => Behaviour,
  emit: (type: string, properties: unknown) => void,
): Conversations {
  const store: Store = existsSync(file)
    ? JSON.parse(readFileSync(file, "utf8"))
    : { sessions: [], messages: {} };
  const runs = new Map<string, Run[]>();
  let aborts = behaviour().aborts ?? 1;
  setInterval(tick, 20);

  return {
    list: () => store.sessions,
    create({ title, parentID }) {
      const time = { created: Date.now() };
      const id = `ses_${store.sessions.length + 1}`;
      const session = { id, time, ...(title && { title }), ...(parentID && { parentID }) };
      store.sessions.push(session);
      keep();
      return session;
    },
    remove(id) {
      store.sessions = store.sessions.filter((session) => session.id !== id);
      keep();
    },
    messages(id) {
      tick();
      return store.messages[id] ?? [];
    },
    busy() {
      tick();
      return [...runs].filter(([, [run]]) => run && run.from <= Date.now()).map(([id]) => id);
    },
    prompt(id, { messageID = `msg_${crypto.randomUUID()}`, agent, model, parts = [] }) {
      const known = agent === undefined || (behaviour().agents ?? ["build"]).includes(agent);
      if (!known) return fail(id, `Agent not found: "${agent}".`);
      const all = messagesOf(id);
      const said = all.find(({ info }) => info.id === messageID);
      // said again: parts without an id come twice
      if (said) said.parts.push(...parts.filter((part) => part.id === undefined));
      else {
        const info = { id: messageID, sessionID: id, role: "user" as const, time: { created: Date.now() } };
        all.push({ info, parts: parts.map((part) => partOf(info, part)) });
      }
      keep();
      report(all.at(-1));
      if (model?.providerID === "nope") return fail(id, "Model not found: nope/x.");
      const answered = all.some(({ info }) => info.parentID === messageID && info.finish !== undefined);
      const queue = runs.get(id) ?? [];
      if (answered || queue.some(({ prompt }) => prompt === messageID)) return;
      const { coldMs = 0, runMs = 0 } = behaviour();
      const slow = /^!slow (\d+)/m.exec(textOf(id, messageID))?.[1];
      const from = Math.max(Date.now() + coldMs, queue.at(-1)?.until ?? 0);
      runs.set(id, [...queue, { prompt: messageID, from, until: from + Number(slow ?? runMs) }]);
    },
    abort(id) {
      const [run] = runs.get(id) ?? [];
      // an abort before the run shows is lost; one that is taken drops what waits behind it
      if (!run || run.from > Date.now() || --aborts > 0) return;
      tick();
      end(id, run, { error: { name: "MessageAbortedError", data: { message: "Aborted" } } });
      runs.delete(id);
    },
  };

  function tick(): void {
    const now = Date.now();
    for (const [id, [run, ...rest]] of runs) {
      if (!run || run.from > now) continue;
      begin(id, run);
      if (run.until > now && !behaviour().finish) continue;
      const text = textOf(id, run.prompt);
      const words = /^!fail (.*)/m.exec(text)?.[1];
      if (rest.length > 0) runs.set(id, rest);
      else runs.delete(id);
      end(id, run, words ? { error: { name: "APIError", data: { message: words } } } : { finish: "stop" });
    }
  }

  function begin(id: string, { prompt }: Run): void {
    const all = messagesOf(id);
    if (all.some(({ info }) => info.parentID === prompt)) return;
    const time = { created: Date.now() };
    const info = {
      id: `msg_a${crypto.randomUUID()}`,
      sessionID: id,
      role: "assistant" as const,
      parentID: prompt,
      time,
    };
    all.push({ info, parts: [partOf(info, { type: "text", text: `answer to ${textOf(id, prompt)}` })] });
    keep();
    report(all.at(-1));
  }

  function end(id: string, { prompt }: Run, how: Partial<Message["info"]>): void {
    const answer = (store.messages[id] ?? []).findLast(({ info }) => info.parentID === prompt);
    if (answer) {
      Object.assign(answer.info, how);
      answer.info.time.completed = Date.now();
    }
    keep();
    report(answer);
    if (how.error) emit("session.error", { sessionID: id, error: how.error });
    emit("session.idle", { sessionID: id });
  }

  /** Sends the events of a message and its parts. */
  function report(message: Message | undefined): void {
    if (!message) return;
    emit("message.updated", { info: message.info });
    for (const part of message.parts) emit("message.part.updated", { part });
  }

  function fail(id: string, message: string): void {
    setTimeout(() => {
      emit("session.error", { sessionID: id, error: { name: "UnknownError", data: { message } } });
      emit("session.idle", { sessionID: id });
    }, 20);
  }

  function messagesOf(id: string): Message[] {
    const all = store.messages[id] ?? [];
    store.messages[id] = all;
    return all;
  }

  function textOf(id: string, prompt: string): string {
    const message = (store.messages[id] ?? []).find(({ info }) => info.id === prompt);
    return message?.parts.map(({ text }) => text).join("\n") ?? "";
  }

  /** Whole or not at all: it may be killed meanwhile. */
  function keep(): void {
    writeWhole(file, JSON.stringify(store));
  }
}

/** A part as the runtime keeps it. */
function partOf({ id, sessionID }: Message["info"], part: Part): Part {
  return { id: `prt_${crypto.randomUUID()}`, messageID: id, sessionID, ...part };
}
