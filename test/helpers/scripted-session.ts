import type { AttachedFile } from "../../src/contract/attachment.ts";
import type { Prompt } from "../../src/contract/prompt.ts";
import type { Session, SessionEvent, WaitingFor } from "../../src/contract/session.ts";
import type {
  ConversationStreamEvent,
  Turn,
  TurnChange,
  TurnPart,
  TurnRequest,
  TurnTool,
} from "../../src/contract/turn.ts";
import { type FakeApi, failure } from "./cli-api.ts";
import { booting, changed, prompt, SESSION_ID, session, storedTurn } from "./cli-sessions.ts";

/** The agent's scripted steps for a prompt. */
export interface Run {
  /** Starts to work. */
  begin(): void;
  /** A text of one part, streamed in these pieces. */
  say(...pieces: string[]): Promise<void>;
  /** The beginning of a text that a later `whole` completes, or that stays incomplete. */
  part(): { more(piece: string): void; whole(text?: string): void };
  tool(name: string, state: TurnPart["state"], change?: Partial<TurnTool>, parent?: string): string;
  plan(plan: NonNullable<TurnPart["plan"]>): void;
  /** Asks, and waits for the answer. */
  permission(permission: string, patterns: string[]): Promise<unknown>;
  question(questions: Partial<WaitingFor["questions"][number]>[]): Promise<unknown>;
  retry(attempt: number, message: string): void;
  end(state?: TurnChange["state"], error?: string): void;
}

type Script = (run: Run, text: string) => unknown;

const ONE = "/projects/:p/sessions/:n";
/** How long a piece of text takes. */
const PIECE_MS = 5;
const STATES = { done: "answered", working: "running" } as const;

/** Stands in for svc's routes of one session, in which a test's script answers the prompts. */
export class ScriptedSession {
  /** The requests that change something, by the end of their path. */
  readonly requests: { verb: string; body: unknown }[] = [];
  /** Whether each change is sent twice. */
  tellsTwice = false;
  /** Responds only with this status for now. */
  down: number | null = null;
  /** Number of these responses. */
  refused = 0;
  /** Why the agent does not get the next prompts. */
  problem: string | null = null;
  /** When the stream of the session opens, and when the server takes the next prompts; null: at once. */
  readonly after: Record<"events" | "prompt", Promise<unknown> | null> = { events: null, prompt: null };
  /** A prompt was read that the server does not have. */
  onUnknownPrompt = () => {};
  session: Session = session();
  readonly #turns: Turn[] = [];
  readonly #prompts = new Map<string, Prompt>();
  readonly #queue: { id: string; text: string; files: AttachedFile[] }[] = [];
  readonly #log: { version: number; event: ConversationStreamEvent }[] = [];
  readonly #streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  readonly #sessionStreams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  readonly #waiting: { request: WaitingFor; answer: (answer: unknown) => void }[] = [];
  #script: Script = echo;
  /** Of a restart. */
  #steps = () => {};
  #version = 0;
  #count = 0;

  constructor(api: Pick<FakeApi, "on">) {
    const on = (route: string, answer: Parameters<FakeApi["on"]>[1]) =>
      api.on(route.replace(" ", ` ${ONE}`), (asked) => this.#refusal() ?? answer(asked));
    const change = (verb: string, answer: Parameters<FakeApi["on"]>[1], method = "POST") =>
      on(`${method} /${verb}`, (asked) => {
        this.requests.push({ verb, body: asked.body });
        return answer(asked);
      });
    api.on(`GET ${ONE}`, ({ path }) => ({ ...this.session, session_id: path.split("/").at(-1) }));
    on("GET /events", () => this.after.events?.then(() => this.#sessionStream()) ?? this.#sessionStream());
    on("GET /conversation", () => ({ turns: this.#turns, event_id: String(this.#version) }));
    on("GET /conversation/events", ({ headers }) => this.#stream(Number(headers.get("last-event-id") ?? 0)));
    on("GET /prompts/:q", ({ path }) => {
      const found = this.#prompts.get(path.split("/").at(-1) ?? "");
      if (found) return { prompt: found };
      this.onUnknownPrompt();
      return failure("not_found", "There is no such prompt.", 404);
    });
    change("prompt", ({ body }) => this.after.prompt?.then(() => this.#accept(body)) ?? this.#accept(body));
    change("prompts/:q", ({ path }) => this.#withdraw(path.split("/").at(-1) ?? ""), "DELETE");
    change("abort", () => this.#abort());
    change("answer", ({ body }) => this.#answer(body));
    change("restart", () => this.#restart());
  }

  /** The bodies of the requests of a kind. */
  posted(verb: string): unknown[] {
    return this.requests.filter((each) => each.verb === verb).map(({ body }) => body);
  }

  /** How the next prompts are answered. */
  onPrompt(script: Script): void {
    this.#script = script;
  }

  /** Turns from before the chat. */
  remember(...turns: [prompt: string, answer: string][]): void {
    for (const [text, answer] of turns) {
      const run = this.run(text);
      run.part().whole(answer);
      run.end();
    }
  }

  /** The run of another user's prompt. */
  run(text = "theirs", files: readonly AttachedFile[] = []): Run {
    return this.#run(this.#turn(null, text, files));
  }

  /** Changes the session. */
  become(change: Partial<Session>): void {
    this.session = session({ ...this.session, ...change });
    this.#tell(changed(this.session));
  }

  /** Another user answers what the agent asks. */
  answerFirst(answer: unknown): void {
    this.#answer({ request_id: this.#waiting[0]?.request.request_id, answer });
  }

  /** Number of requests that wait for an answer. */
  get asks(): number {
    return this.#waiting.length;
  }

  get listeners(): number {
    return this.#streams.size;
  }

  /** Ends every stream, like a restarted server. */
  cut(): void {
    for (const streams of [this.#streams, this.#sessionStreams]) {
      for (const stream of streams) stream.close();
      streams.clear();
    }
  }

  #refusal(): Response | null {
    if (this.down === null) return null;
    this.refused++;
    return failure("unavailable", "It starts.", this.down);
  }

  #accept(body: unknown): Response {
    const taken = prompt({ body });
    const { prompt_id: id, text } = taken;
    if (!this.#prompts.has(id)) {
      this.#prompts.set(id, taken);
      const files = Array.from(Object(body).attachments ?? [], (file) => fileOf(file));
      this.#queue.push({ id, text, files });
      this.#tell({ type: "prompt", prompt: taken });
      this.#deliver();
    }
    return Response.json({ prompt: taken }, { status: 202 });
  }

  #deliver(): void {
    const next = this.#isBusy ? undefined : this.#queue.shift();
    if (!next) return;
    if (this.problem !== null) {
      this.#setPrompt(next.id, { state: "failed", error: this.problem });
      return;
    }
    this.#setPrompt(next.id, { state: "running" });
    void this.#script(this.#run(this.#turn(next.id, next.text, next.files)), next.text);
  }

  #setPrompt(id: string, change: Partial<Prompt>): void {
    const before = this.#prompts.get(id);
    if (!before) return;
    const isOver = !["queued", "running"].includes(change.state ?? before.state);
    const now = { ...before, ...change, ended_at: isOver ? before.created_at : null };
    this.#prompts.set(id, now);
    this.#tell({ type: "prompt", prompt: now });
  }

  #withdraw(id: string): Response | object {
    const at = this.#queue.findIndex((each) => each.id === id);
    if (at < 0) return failure("prompt_not_queued", "It runs.", 409);
    this.#queue.splice(at, 1);
    this.#setPrompt(id, { state: "aborted" });
    return { prompt: this.#prompts.get(id) };
  }

  #abort(): Response | object {
    const turn = this.#turns.findLast(({ state }) => state === "working");
    if (!turn) return failure("nothing_to_abort", "It is idle.", 409);
    this.#waiting.length = 0;
    this.#run(turn).end("aborted");
    return { ok: true };
  }

  #answer(body: unknown): Response | object {
    const { request_id, answer } = Object(body);
    const at = this.#waiting.findIndex(({ request }) => request.request_id === request_id);
    const [asked] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (!asked) return failure("not_waiting", "It waits for nothing.", 409);
    this.#wait();
    asked.answer(answer);
    return { ok: true };
  }

  #restart(): Response {
    const { session_id } = this.session;
    this.session = booting("clone", { session_id });
    this.#steps = () => {
      this.become(booting("runtime", { session_id }));
      this.become(session({ session_id }));
    };
    if (this.#sessionStreams.size > 0) this.#goOn();
    return Response.json(this.session, { status: 202 });
  }

  #wait(): void {
    this.become({ waiting_for: this.#waiting[0]?.request ?? null });
  }

  get #isBusy(): boolean {
    return this.#turns.some(({ state }) => state === "working");
  }

  #tell(event: SessionEvent): void {
    for (const stream of this.#sessionStreams) stream.enqueue(lineOf(0, event));
  }

  #sessionStream(): Response {
    const stream = streamOf(this.#sessionStreams, [lineOf(0, changed(this.session))]);
    this.#goOn();
    return stream;
  }

  /** Takes the steps of a restart, which a client has to hear. */
  #goOn(): void {
    setTimeout(this.#steps, PIECE_MS);
    this.#steps = () => {};
  }

  /** A text under way is sent whole. */
  #stream(after: number): Response {
    const missed = this.#log.filter(({ version }) => version > after);
    const texts = this.#turns.flatMap(({ turn_id, parts }) =>
      parts.flatMap((part): ConversationStreamEvent[] =>
        part.kind === "text" && part.state === "running" ? [{ type: "part", turn_id, part }] : [],
      ),
    );
    return streamOf(this.#streams, [
      new TextEncoder().encode(":\n\n"),
      ...missed.map(({ version, event }) => lineOf(version, event)),
      ...texts.map((event) => lineOf(this.#version, event)),
    ]);
  }

  #send(event: ConversationStreamEvent): void {
    const line = lineOf(this.#version, event);
    for (const stream of this.#streams) {
      stream.enqueue(line);
      if (this.tellsTwice) stream.enqueue(line);
    }
  }

  /** Stores a change, and sends it. */
  #store(event: ConversationStreamEvent): void {
    this.#log.push({ version: ++this.#version, event: structuredClone(event) });
    this.#send(event);
  }

  #turn(prompt_id: string | null, text: string, files: readonly AttachedFile[]): Turn {
    const number = this.#turns.length + 1;
    const turn: Turn = {
      ...storedTurn,
      turn_id: `msg_${number}`,
      number,
      prompt_id,
      state: "working",
      parts: [],
    };
    this.#turns.push(turn);
    this.#storeTurn(turn);
    this.#put(turn, this.#newPart({ kind: "prompt", state: "done", text }));
    for (const file of files) this.#put(turn, this.#newPart({ kind: "file", state: "done", file }));
    return turn;
  }

  #storeTurn({ parts: _, ...turn }: Turn): void {
    this.#store({ type: "turn", turn });
  }

  #newPart(change: Partial<TurnPart> & Pick<TurnPart, "kind">): TurnPart {
    const number = ++this.#count;
    return {
      ...{ part_id: `prt_${number}`, number, parent_id: null, state: "running", text: "", tool: null },
      ...{ file: null, plan: null, request: null, cut: false, brief: false, at: storedTurn.started_at },
      ...change,
    };
  }

  #put(turn: Turn, part: TurnPart): void {
    if (!turn.parts.includes(part)) turn.parts.push(part);
    this.#store({ type: "part", turn_id: turn.turn_id, part });
  }

  #run(turn: Turn): Run {
    const { turn_id } = turn;
    const run: Run = {
      begin: () => this.#storeTurn(turn),
      part: () => {
        const part = this.#newPart({ kind: "text" });
        this.#put(turn, part);
        return {
          more: (text) => {
            const from = part.text.length;
            part.text += text;
            this.#send({ type: "text", turn_id, part_id: part.part_id, from, text });
          },
          whole: (text = part.text) => {
            Object.assign(part, { state: "done", text: text.trimEnd() });
            this.#put(turn, part);
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
      tool: (name, state, change = {}, parent) => {
        const known = turn.parts.find((part) => part.tool?.name === name && part.state === "running");
        const part = known ?? this.#newPart({ kind: "tool", parent_id: parent ?? null });
        Object.assign(part, { state, tool: { ...TOOL, ...part.tool, name, ...change } });
        this.#put(turn, part);
        return part.part_id;
      },
      plan: (plan) => this.#put(turn, this.#newPart({ kind: "plan", state: "done", plan })),
      permission: (permission, patterns) =>
        this.#ask(turn, { kind: "permission", permission, patterns, questions: [] }),
      question: (questions) => {
        const whole = questions.map((each) => ({ ...QUESTION, ...each }));
        return this.#ask(turn, { kind: "question", permission: null, patterns: [], questions: whole });
      },
      retry: (attempt, message) => {
        const at = new Date(Date.now() + 2000).toISOString();
        Object.assign(turn, { retry: { attempt, message, at } });
        this.#storeTurn(turn);
        for (const part of turn.parts) {
          if (part.kind !== "text" || part.state !== "running") continue;
          Object.assign(part, { text: "", state: "done" });
          this.#put(turn, part);
        }
      },
      end: (state = "done", error) => {
        Object.assign(turn, { state, error: error ?? null, retry: null });
        this.#storeTurn(turn);
        this.#wait();
        const answer = turn.parts.flatMap(({ kind, text }) => (kind === "text" ? text : [])).join("");
        const ended = STATES[state as "done"] ?? (state as Prompt["state"]);
        if (turn.prompt_id) this.#setPrompt(turn.prompt_id, { state: ended, error: error ?? null, answer });
        this.#deliver();
      },
    };
    return run;
  }

  #ask(turn: Turn, asked: Omit<WaitingFor, "request_id" | "kept">): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const request: WaitingFor = { ...asked, request_id: `req_${++this.#count}`, kept: false };
    const { request_id, permission, patterns } = request;
    const questions = request.questions.map((each) => ({ ...each, answers: [] }));
    const stored: TurnRequest = {
      request_id,
      permission,
      patterns,
      questions,
      reply: null,
      answered_by: null,
    };
    const part = this.#newPart({
      kind: request.kind === "permission" ? "permission" : "question",
      request: stored,
    });
    this.#put(turn, part);
    const answer = (given: unknown) => {
      part.state = given === null || given === "reject" ? "failed" : "done";
      this.#put(turn, part);
      resolve(given);
    };
    this.#waiting.push({ request, answer });
    this.#wait();
    return promise;
  }
}

const TOOL: TurnTool = { name: "", title: "", input: [], output: "", error: null, files: [], patch: "" };
const QUESTION = { question: "", options: [], multiple: false, custom: true };

function fileOf(file: unknown): AttachedFile {
  const { name, data } = Object(file);
  return { name, type: "text/plain", size: Buffer.from(data, "base64").length };
}

function streamOf(
  streams: Set<ReadableStreamDefaultController<Uint8Array>>,
  first: readonly Uint8Array[],
): Response {
  let own: ReadableStreamDefaultController<Uint8Array> | null = null;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      own = controller;
      streams.add(controller);
      for (const line of first) controller.enqueue(line);
    },
    cancel() {
      if (own) streams.delete(own);
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
}

const lineOf = (id: number, event: ConversationStreamEvent | SessionEvent): Uint8Array =>
  new TextEncoder().encode(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** Echoes the prompt. */
async function echo(run: Run, text: string): Promise<void> {
  run.begin();
  await run.say(text);
  run.end();
}

/** The session's id, as people name it. */
export const CHAT_ID = SESSION_ID.slice(0, 8);
