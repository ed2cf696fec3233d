import { filePart } from "../../src/contract/attachment.ts";
import type { DaemonPrompt, DaemonPromptBody } from "../../src/contract/daemon.ts";
import { arrayOf } from "../../src/contract/json.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import type { FakeApi, Seen } from "./cli-api.ts";

type Outcome = Pick<DaemonPrompt, "state" | "error">;

/** An event as the runtime writes it, without its id. */
interface Wire {
  type: string;
  properties: Record<string, unknown>;
}

interface StoredMessage {
  info: Record<string, unknown> & { id: string };
  parts: (Record<string, unknown> & { id: string })[];
}

/** The agent's scripted steps for a prompt, in the order of the runtime's events. */
export interface Run {
  /** Starts to work, and starts an answer. */
  begin(): void;
  /** A text of one part, streamed in these pieces. */
  say(...pieces: string[]): Promise<void>;
  /** The beginning of a text that a later `whole` completes, or that stays incomplete. */
  part(): { more(piece: string): void; whole(): void };
  tool(tool: string, state: Record<string, unknown>): void;
  /** Sends a request, and waits for the reply. */
  permission(permission: string, patterns: string[]): Promise<unknown>;
  question(questions: unknown[]): Promise<unknown>;
  retry(attempt: number, message: string): void;
  fail(name: string, message: string): void;
  /** Ends the answer, and is idle. */
  end(finish?: string): void;
  /** Is idle without having ended it, like a restarted runtime. */
  die(): void;
}

/** How long a piece of text takes. */
const PIECE_MS = 5;

/**
 * Stands in for the agent runtime behind the API's proxy: one conversation, in which a test's script answers. Its orders
 * of events are those of the real one (test/e2e/chat.test.ts runs the chat with it).
 */
export class ScriptedRuntime {
  readonly conversation = "ses_conversation";
  /** The client's requests, except reads: `POST /session/…/abort`. */
  readonly requests: { method: string; path: string; body: unknown }[] = [];
  #messages: StoredMessage[] = [];
  #status: Record<string, unknown> = {};
  #waiting = new Map<
    string,
    { kind: string; value: Record<string, unknown>; answer: (body: unknown) => void }
  >();
  #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #script: (run: Run, text: string) => unknown = (run, text) => echo(run, text);
  #count = 0;
  #aborted: (() => void) | null = null;
  /** The ends of runs, by the ids of their prompts' messages. */
  readonly #ends = new Map<string, Outcome>();
  /** Called when it begins to work, or is idle. */
  onBusy: (isBusy: boolean) => void = () => {};

  constructor(api: Pick<FakeApi, "mount">) {
    api.mount("/p/", (call) => this.#answer(call));
  }

  /** The outcomes of the next prompts. */
  onPrompt(script: (run: Run, text: string) => unknown): void {
    this.#script = script;
  }

  /** The messages from before the chat. */
  remember(...turns: [prompt: string, answer: string][]): void {
    for (const [prompt, answer] of turns) {
      const user = this.#message("user", null);
      user.parts.push(this.#textPart(user, prompt, true));
      const assistant = this.#message("assistant", user.info.id);
      assistant.parts.push(this.#textPart(assistant, answer, true));
      Object.assign(assistant.info, { finish: "stop", time: { created: Date.now(), completed: Date.now() } });
    }
  }

  /** Another user sends a prompt. */
  prompt(text: string, ...files: object[]): void {
    this.#prompt({ messageID: `msg_${++this.#count}`, parts: [{ text }, ...files] });
  }

  get isWorking(): boolean {
    return this.#isBusy;
  }

  /** Takes a prompt from the daemon, once. @returns its state; null: it is busy */
  deliver({ prompt_id, text, attachments }: DaemonPromptBody): Outcome | null {
    const messageID = `msg_${messageEndOf(prompt_id)}`;
    const isKnown = this.#messages.some(({ info }) => info.id === messageID);
    if (!isKnown && this.#isBusy) return null;
    this.#prompt({ messageID, parts: [{ text }, ...(attachments ?? []).map(filePart)] });
    return this.#ends.get(messageID) ?? { state: "running", error: null };
  }

  /** Ends the run, if there is one. */
  abort(): void {
    this.#aborted?.();
  }

  /** Number of requests that wait for a reply. */
  get asks(): number {
    return this.#waiting.size;
  }

  /** A run of an existing prompt, or without a prompt. */
  run(promptId = "msg_other"): Run {
    return this.#run(promptId);
  }

  /** Ends every stream, like a restarted proxy. */
  cut(): void {
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
  }

  get listeners(): number {
    return this.#streams.size;
  }

  #answer({ method, path, body }: Seen): Response | object {
    const route = path.replace(/^\/p\/[^/]+\/8000/, "");
    if (route === "/svc/health") {
      const time = new Date().toISOString();
      return { daemon: "ok", time, runtime: "ok", conversation: null };
    }
    if (route === "/event") return this.#stream();
    // the daemon's own: it has nothing to choose from
    if (route.startsWith("/svc/choice")) return Response.json({}, { status: 404 });
    if (method === "POST") this.requests.push({ method, path: route, body });
    if (route === "/session" && method === "GET") {
      return [{ id: this.conversation, time: { created: 5 } }];
    }
    if (route === "/session/status") return this.#isBusy ? { [this.conversation]: this.#status } : {};
    if (route === `/session/${this.conversation}/message`) return this.#messages;
    if (route === "/permission" || route === "/question") {
      return [...this.#waiting.values()].filter(({ kind }) => route === `/${kind}`).map(({ value }) => value);
    }
    if (route === `/session/${this.conversation}/prompt_async`) return this.#prompt(body);
    if (route === `/session/${this.conversation}/abort`) {
      this.abort();
      return Response.json(true);
    }
    const [, askId = "", verb = ""] =
      /^\/(?:permission|question)\/([^/]+)\/(reply|reject)$/.exec(route) ?? [];
    if (this.#reply(askId, verb, body)) return Response.json(true);
    return Response.json({ name: "NotFoundError", data: { message: "none" } }, { status: 404 });
  }

  /** Another user replies to a request. */
  answer(kind: "permission" | "question"): void {
    const asked = [...this.#waiting].find(([, waiting]) => waiting.kind === kind);
    if (asked) this.#reply(asked[0], "reply", {});
  }

  #reply(askId: string, verb: string, body: unknown): boolean {
    const waiting = this.#waiting.get(askId);
    if (!waiting) return false;
    this.#waiting.delete(askId);
    const answered = verb === "reject" ? "question.rejected" : `${waiting.kind}.replied`;
    this.emit(answered, { sessionID: this.conversation, requestID: askId });
    waiting.answer(body);
    return true;
  }

  get #isBusy(): boolean {
    return ["busy", "retry"].includes(String(this.#status["type"]));
  }

  #prompt(body: unknown): Response {
    const { messageID, parts } = Object(body);
    const isKnown = this.#messages.some(({ info }) => info.id === messageID);
    if (!isKnown) {
      const text = String(parts?.[0]?.text);
      const message = this.#message("user", null, messageID);
      this.emit("message.updated", { info: message.info });
      const part = this.#textPart(message, text, true);
      message.parts.push(part);
      this.emit("message.part.updated", { part });
      for (const file of arrayOf(parts).slice(1)) {
        const attached = { ...this.#textPart(message, "", true), ...Object(file) };
        message.parts.push(attached);
        this.emit("message.part.updated", { part: attached });
      }
      void this.#script(this.#run(messageID), text);
    }
    return new Response(null, { status: 204 });
  }

  #stream(): Response {
    let own: ReadableStreamDefaultController<Uint8Array> | null = null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller;
        this.#streams.add(controller);
        controller.enqueue(lineOf({ type: "server.connected", properties: {} }, "evt_0"));
      },
      cancel: () => {
        if (own) this.#streams.delete(own);
      },
    });
    return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
  }

  /** Sends any event to all clients. */
  emit(type: string, properties: Record<string, unknown>): void {
    const id = `evt_${++this.#count}`;
    const line = lineOf({ type, properties }, id);
    for (const stream of this.#streams) stream.enqueue(line);
  }

  #setStatus(status: Record<string, unknown>): void {
    this.#status = status;
    this.onBusy(this.#isBusy);
    this.emit("session.status", { sessionID: this.conversation, status });
    if (status["type"] === "idle") this.emit("session.idle", { sessionID: this.conversation });
  }

  #message(role: string, parentID: string | null, id = `msg_${++this.#count}`): StoredMessage {
    const info = { id, role, sessionID: this.conversation, time: { created: Date.now() } };
    const message: StoredMessage = { info: parentID === null ? info : { ...info, parentID }, parts: [] };
    this.#messages.push(message);
    return message;
  }

  #textPart(message: StoredMessage, text: string, isWhole: boolean): StoredMessage["parts"][number] {
    const now = Date.now();
    const time = isWhole ? { start: now, end: now } : { start: now };
    const id = `prt_${++this.#count}`;
    return { id, type: "text", text, messageID: message.info.id, sessionID: this.conversation, time };
  }

  #run(promptId: string): Run {
    let message = { info: { id: "" }, parts: [] } as StoredMessage;
    const updated = () => this.emit("message.updated", { info: { ...message.info } });
    const complete = (fields: object) => {
      Object.assign(message.info, fields, { time: { created: 1, completed: Date.now() } });
      updated();
    };
    const rest = (state: Outcome["state"], error: string | null = null) => {
      this.#ends.set(promptId, { state, error });
      this.#setStatus({ type: "idle" });
    };
    const run: Run = {
      begin: () => {
        this.#setStatus({ type: "busy" });
        message = this.#message("assistant", promptId);
        updated();
        this.#setStatus({ type: "busy" });
        this.#aborted = () => {
          this.#aborted = null;
          run.fail("MessageAbortedError", "Aborted");
        };
      },
      part: () => {
        const part = this.#textPart(message, "", false);
        // a text is stored only when it is complete
        message.parts.push(part);
        this.emit("message.part.updated", { part: { ...part } });
        let text = "";
        return {
          more: (delta) => {
            text += delta;
            const { id: partID } = part;
            this.emit("message.part.delta", {
              sessionID: this.conversation,
              messageID: message.info.id,
              partID,
              field: "text",
              delta,
            });
          },
          whole: () => {
            Object.assign(part, { text: text.trimEnd(), time: { start: 1, end: 2 } });
            this.emit("message.part.updated", { part: { ...part } });
          },
        };
      },
      async say(...pieces) {
        const part = run.part();
        for (const piece of pieces) {
          part.more(piece);
          await Bun.sleep(PIECE_MS);
        }
        part.whole();
      },
      tool: (tool, state) => {
        const callID = `call_${tool}`;
        const known = message.parts.find((part) => part["callID"] === callID);
        const base = { messageID: message.info.id, sessionID: this.conversation };
        const part = known ?? { id: `prt_${++this.#count}`, type: "tool", tool, callID, ...base };
        if (!known) message.parts.push(part);
        part["state"] = state;
        this.emit("message.part.updated", { part: { ...part } });
      },
      permission: (permission, patterns) =>
        this.#ask("permission", { permission, patterns, metadata: {}, always: [] }),
      question: (questions) => this.#ask("question", { questions }),
      retry: (attempt, words) =>
        this.#setStatus({ type: "retry", attempt, message: words, next: Date.now() + 2000 }),
      fail: (name, words) => {
        const error = { name, data: { message: words } };
        const state = name === "MessageAbortedError" ? "aborted" : "failed";
        this.emit("session.error", { sessionID: this.conversation, error });
        rest(state, words);
        complete({ error });
        rest(state, words);
      },
      end: (finish = "stop") => {
        this.#aborted = null;
        complete({ finish });
        rest("answered");
      },
      die: () => {
        this.#aborted = null;
        this.#ends.set(promptId, { state: "interrupted", error: "The agent runtime restarted." });
        this.#status = { type: "idle" };
        this.onBusy(false);
        this.cut();
      },
    };
    return run;
  }

  #ask(kind: "permission" | "question", fields: Record<string, unknown>): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const id = `${kind === "permission" ? "per" : "que"}_${++this.#count}`;
    const value = { id, sessionID: this.conversation, ...fields };
    this.#waiting.set(id, { kind, value, answer: resolve });
    this.emit(`${kind}.asked`, value);
    return promise;
  }
}

/** Echoes the prompt. */
async function echo(run: Run, text: string): Promise<void> {
  run.begin();
  await run.say(text);
  run.end();
}

const lineOf = (event: Wire, id: string): Uint8Array =>
  new TextEncoder().encode(`data: ${JSON.stringify({ id, ...event })}\n\n`);
