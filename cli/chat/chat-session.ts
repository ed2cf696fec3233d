import type { Session } from "../../src/contract/session.ts";
import type { Found } from "../commands/sessions/reference.ts";
import { CliError } from "../failure.ts";
import type { Paint } from "../output.ts";
import type { System } from "../system.ts";
import { oneLine } from "../text.ts";
import { AskForm } from "./ask-form.ts";
import { ChatClient } from "./chat-client.ts";
import type { ChatEvent } from "./chat-event.ts";
import { type ChooseCommand, readChoose } from "./choose.ts";
import { addToHistory } from "./history.ts";
import type { Input } from "./input.ts";
import type { Key } from "./keys.ts";
import { retryLine } from "./lines.ts";
import type { Screen } from "./screen.ts";
import type { ChatTerminal } from "./terminal.ts";
import type { Transcript } from "./transcript.ts";

/** A second Ctrl-C within this time quits. */
const TWICE_MS = 2000;
const HELP = [
  "Enter sends the message. A backslash before Enter, Alt-Enter or Ctrl-J inserts a line break; a paste is one message.",
  "Up and Down browse the history. Ctrl-C aborts the agent's run, or clears the line; Ctrl-C twice quits.",
  "/model, /agent, /mode, /effort  list what the agent can work with; with a name, choose it for the next prompt",
  "/abort  aborts the agent's run",
  "/help   shows this help",
  "/quit   quits, as Ctrl-D does; the session keeps running",
].join("\n");

export interface ChatDependencies {
  system: System;
  found: Found;
  session: Session;
  terminal: ChatTerminal;
  screen: Screen;
  transcript: Transcript;
  input: Input;
  paint: Paint;
  /** The path of the history file. */
  history: string;
  /** Lists or changes what the agent works with. @returns what to show */
  choose(command: ChooseCommand): Promise<string>;
}

/** An interactive chat: handles keys and chat events, and draws the screen. */
export class ChatSession {
  readonly #deps: ChatDependencies;
  readonly #client: ChatClient;
  /** Prompts that were typed here and are on the screen already. */
  readonly #own = new Set<string>();
  readonly #exit = Promise.withResolvers<"quit" | "interrupt">();
  #asking: AskForm | null = null;
  #activity = "";
  #retry = "";
  #depsterruptedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: ChatDependencies) {
    this.#deps = deps;
    this.#client = new ChatClient(deps.found, deps.session, (event) => this.#onEvent(event));
  }

  /** Whether the agent works. */
  get isBusy(): boolean {
    return this.#client.isBusy;
  }

  /** Returns how the user quit. @throws CliError if the connection fails for good */
  async run(): Promise<"quit" | "interrupt"> {
    const { terminal, screen } = this.#deps;
    terminal.onKey((key) => {
      this.#press(key);
      this.#draw();
    });
    terminal.onResize(() => screen.resize());
    terminal.onEnd(() => this.#exit.resolve("quit"));
    this.#draw();
    this.#client.listen().catch(this.#exit.reject);
    try {
      return await this.#exit.promise;
    } finally {
      this.#client.end();
    }
  }

  #onEvent(event: ChatEvent): void {
    const { system, transcript } = this.#deps;
    if (event.type === "tool") {
      const { state, tool } = event;
      this.#activity = state === "running" ? `${tool.name} ${tool.title}` : "";
    }
    if (event.type === "retry") this.#retry = retryLine(event.retry, system.now());
    if (event.type === "text" || event.type === "tool" || event.type === "status") this.#retry = "";
    if (event.type === "status" && event.status === "idle") this.#activity = "";
    transcript.show(event, (id) => this.#own.has(id), system.now());
    this.#updateForm();
    this.#draw();
  }

  /** While the agent asks something, the input is the answer. */
  #updateForm(): void {
    const next = this.#client.ask;
    if (next?.request_id === this.#asking?.ask.request_id) return;
    this.#asking = next && new AskForm(next);
    if (this.#asking === null) this.#deps.input.unstash();
    else this.#deps.input.stash();
  }

  #draw(): void {
    const { screen, input, paint } = this.#deps;
    screen.show(paint.dim(this.#status()), this.#asking === null ? "> " : "? ", input.draft);
  }

  #status(): string {
    if (this.#client.isLost) return "Connecting…";
    if (this.#asking !== null) return this.#asking.hint;
    if (this.#client.isBusy)
      return `${oneLine(this.#retry || this.#activity || "The agent is working")} · Ctrl-C aborts`;
    return this.#isInterrupted() ? "Ctrl-C again quits" : "";
  }

  #isInterrupted(): boolean {
    return this.#deps.system.now() - this.#depsterruptedAt < TWICE_MS;
  }

  #press(key: Key): void {
    const { input, screen, terminal } = this.#deps;
    if (key.do === "interrupt") {
      this.#depsterrupt();
      return;
    }
    this.#depsterruptedAt = Number.NEGATIVE_INFINITY;
    if (key.do === "send") this.#send();
    else if (key.do === "older") input.recall(-1);
    else if (key.do === "newer") input.recall(1);
    else if (key.do === "clear") screen.clear();
    else if (key.do === "suspend") void terminal.suspend(screen);
    else if (key.do === "leave or erase") {
      if (input.isEmpty) this.#exit.resolve("quit");
      else input.change({ do: "erase", to: "right" });
    } else if (key.do !== "nothing") input.change(key);
  }

  #depsterrupt(): void {
    const { input, system } = this.#deps;
    if (this.#isInterrupted()) {
      this.#exit.resolve("interrupt");
      return;
    }
    // a Ctrl-C that clears the line does not count for quitting
    const clears = !this.isBusy && !input.isEmpty;
    this.#depsterruptedAt = clears ? Number.NEGATIVE_INFINITY : system.now();
    if (clears) input.clear();
    else if (this.isBusy) this.#abort();
    else setTimeout(() => this.#draw(), TWICE_MS).unref();
  }

  #abort(): void {
    this.#deps.transcript.note(this.isBusy ? "Aborting…" : "The agent is idle.");
    if (this.isBusy) this.#try("Cannot abort the run", this.#client.abort());
  }

  #send(): void {
    const message = this.#deps.input.submit();
    if (message === null) return;
    const { text, shown } = message;
    const chosen = readChoose(text);
    if (this.#asking !== null) this.#reply(this.#asking, text);
    else if (chosen) this.#choose(chosen);
    else if (/^\/[a-z]+$/.test(text.trim())) this.#command(text.trim());
    else this.#prompt(text, shown);
  }

  #prompt(text: string, shown: string): void {
    const { input, transcript, history } = this.#deps;
    input.addToHistory(text);
    // the chat works without a history file
    addToHistory(history, text).catch(() => {});
    transcript.prompt(shown);
    const sent = this.#client
      .prompt(text, (id) => this.#own.add(id), [])
      .catch((error: unknown) => {
        input.restore(text);
        throw error;
      });
    this.#try("Cannot send the message", sent);
  }

  #reply(form: AskForm, text: string): void {
    const { transcript } = this.#deps;
    const answer = form.reply(text);
    transcript.prompt(text);
    if (answer.is === "answer")
      this.#try("Cannot send the answer", this.#client.answer(form.ask, answer.answer));
    if (answer.is === "again") transcript.note(answer.hint);
  }

  #choose(command: ChooseCommand): void {
    const { transcript, choose } = this.#deps;
    const shown = choose(command).then((text) => transcript.note(text));
    this.#try(`Cannot choose the ${command.what}`, shown);
  }

  #command(name: string): void {
    const { transcript } = this.#deps;
    if (name === "/quit" || name === "/exit") this.#exit.resolve("quit");
    else if (name === "/abort") this.#abort();
    else if (name === "/help") transcript.note(HELP);
    else transcript.note(`Unknown command ${oneLine(name)}. /help lists the commands.`);
  }

  /** Shows a failure; the chat continues. */
  #try(what: string, work: Promise<unknown>): void {
    const { transcript } = this.#deps;
    work
      .catch((error: unknown) => {
        const why = error instanceof CliError ? error.message : "an internal error occurred.";
        transcript.error(`${what}: ${why}`);
      })
      .then(() => this.#draw());
  }
}
