import type { Runtime } from "../../src/conversation/runtime.ts";
import { type News, Talk } from "../../src/conversation/talk.ts";
import { CliError } from "../failure.ts";
import type { Paint } from "../output.ts";
import type { System } from "../system.ts";
import { oneLine } from "../text.ts";
import { Asking } from "./asking.ts";
import { addToHistory } from "./history.ts";
import type { Input } from "./input.ts";
import type { Key } from "./keys.ts";
import type { Screen } from "./screen.ts";
import type { ChatTerminal } from "./terminal.ts";
import type { Transcript } from "./transcript.ts";
import { retryLine } from "./words.ts";

/** A second Ctrl-C within this leaves. */
const TWICE_MS = 2000;
const HELP = [
  "Enter sends. A backslash before it, Alt-Enter or Ctrl-J makes a new line; a paste is one message.",
  "Up and Down go through what was asked before. Ctrl-C aborts what the agent does, or clears the line; twice it leaves.",
  "/abort  ends what the agent does",
  "/help   shows this",
  "/quit   leaves, as Ctrl-D does; the session goes on",
].join("\n");

export interface Furniture {
  system: System;
  runtime: Runtime;
  terminal: ChatTerminal;
  screen: Screen;
  transcript: Transcript;
  input: Input;
  paint: Paint;
  /** The file of what was asked. */
  history: string;
}

/** Where a person and the agent talk: keys go in, news go in, and the screen shows both. */
export class Room {
  readonly #in: Furniture;
  readonly #talk: Talk;
  /** Prompts that were typed here, and stand on the screen already. */
  readonly #own = new Set<string>();
  readonly #exit = Promise.withResolvers<"quit" | "interrupt">();
  #asking: Asking | null = null;
  #activity = "";
  #retry = "";
  #interruptedAt = Number.NEGATIVE_INFINITY;

  constructor(furniture: Furniture) {
    this.#in = furniture;
    this.#talk = new Talk(furniture.runtime, (news) => this.#hear(news));
  }

  /** Whether the agent works. */
  get isBusy(): boolean {
    return this.#talk.isBusy;
  }

  /** How the person left. @throws CliError what the connection is given up for */
  async stay(): Promise<"quit" | "interrupt"> {
    const { terminal, screen } = this.#in;
    terminal.onKey((key) => {
      this.#press(key);
      this.#draw();
    });
    terminal.onResize(() => screen.resize());
    terminal.onEnd(() => this.#exit.resolve("quit"));
    this.#draw();
    this.#talk.listen().catch(this.#exit.reject);
    try {
      return await this.#exit.promise;
    } finally {
      this.#talk.end();
    }
  }

  #hear(news: News): void {
    const { system, transcript } = this.#in;
    if (news.type === "tool") {
      this.#activity = news.use.state === "running" ? `${news.use.tool} ${news.use.title}` : "";
    }
    if (news.type === "status") {
      const { status } = news;
      this.#retry = status.type === "retry" ? retryLine(status, system.now()) : "";
      if (status.type === "idle") this.#activity = "";
    }
    transcript.show(news, (id) => this.#own.has(id), system.now());
    this.#turnToAsk();
    this.#draw();
  }

  /** What is typed belongs to what the agent asks, as long as it does. */
  #turnToAsk(): void {
    const [next] = this.#talk.asks;
    if (next?.id === this.#asking?.ask.id) return;
    this.#asking = next ? new Asking(next) : null;
    if (this.#asking === null) this.#in.input.takeUp();
    else this.#in.input.putAside();
  }

  #draw(): void {
    const { screen, input, paint } = this.#in;
    screen.show(paint.dim(this.#status()), this.#asking === null ? "> " : "? ", input.draft);
  }

  #status(): string {
    if (this.#talk.isLost) return "Connecting…";
    if (this.#asking !== null) return this.#asking.hint;
    if (this.#talk.isBusy)
      return `${oneLine(this.#retry || this.#activity || "The agent works")} · Ctrl-C aborts`;
    return this.#isInterrupted() ? "Ctrl-C again leaves" : "";
  }

  #isInterrupted(): boolean {
    return this.#in.system.now() - this.#interruptedAt < TWICE_MS;
  }

  #press(key: Key): void {
    const { input, screen, terminal } = this.#in;
    if (key.do === "interrupt") {
      this.#interrupt();
      return;
    }
    this.#interruptedAt = Number.NEGATIVE_INFINITY;
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

  #interrupt(): void {
    const { input, system } = this.#in;
    if (this.#isInterrupted()) {
      this.#exit.resolve("interrupt");
      return;
    }
    // a line that is cleared is no wish to leave
    const clears = !this.isBusy && !input.isEmpty;
    this.#interruptedAt = clears ? Number.NEGATIVE_INFINITY : system.now();
    if (clears) input.clear();
    else if (this.isBusy) this.#abort();
    else setTimeout(() => this.#draw(), TWICE_MS).unref();
  }

  #abort(): void {
    this.#in.transcript.note(this.isBusy ? "Aborting…" : "The agent does nothing.");
    if (this.isBusy) this.#try("It was not aborted", this.#talk.abort());
  }

  #send(): void {
    const taken = this.#in.input.take();
    if (taken === null) return;
    const { words, shown } = taken;
    if (this.#asking !== null) this.#reply(this.#asking, words);
    else if (/^\/[a-z]+$/.test(words.trim())) this.#command(words.trim());
    else this.#say(words, shown);
  }

  #say(words: string, shown: string): void {
    const { input, transcript, history } = this.#in;
    input.keep(words);
    // a past that cannot be kept is no reason not to talk
    addToHistory(history, words).catch(() => {});
    transcript.prompt(shown);
    const said = this.#talk
      .say(words, (id) => this.#own.add(id))
      .catch((error: unknown) => {
        input.giveBack(words);
        throw error;
      });
    this.#try("It was not sent", said);
  }

  #reply(to: Asking, words: string): void {
    const { transcript } = this.#in;
    const answer = to.reply(words);
    transcript.prompt(words);
    const wrong = "It was not answered";
    if (answer.is === "permission") this.#try(wrong, this.#talk.allow(to.ask, answer.reply));
    if (answer.is === "answers") this.#try(wrong, this.#talk.answer(to.ask, answer.answers));
    if (answer.is === "refusal") this.#try(wrong, this.#talk.refuse(to.ask));
    if (answer.is === "again") transcript.note(answer.words);
  }

  #command(name: string): void {
    const { transcript } = this.#in;
    if (name === "/quit" || name === "/exit") this.#exit.resolve("quit");
    else if (name === "/abort") this.#abort();
    else if (name === "/help") transcript.note(HELP);
    else transcript.note(`There is no command ${oneLine(name)}. /help lists them.`);
  }

  /** What goes wrong is said, and the talk goes on. */
  #try(what: string, work: Promise<unknown>): void {
    const { transcript } = this.#in;
    work
      .catch((error: unknown) => {
        const why = error instanceof CliError ? error.message : "something went wrong inside svc.";
        transcript.error(`${what}: ${why}`);
      })
      .then(() => this.#draw());
  }
}
