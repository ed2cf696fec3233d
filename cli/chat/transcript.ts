import { attachedText } from "../../src/contract/attachment.ts";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import type { WaitingFor } from "../../src/contract/session.ts";
import type { Outcome } from "../../src/conversation/text.ts";
import type { Paint } from "../output.ts";
import { count, lines, oneLine } from "../text.ts";
import type { ChatEvent } from "./chat-event.ts";
import { outcomeLine, planText, retryLine, toolLine } from "./lines.ts";
import { sanitizer } from "./sanitizer.ts";
import type { Screen } from "./screen.ts";

/** Prompts of the history that a chat shows at its start, and characters shown of one text in it. */
const HISTORY_PROMPTS = 5;
const HISTORY_TEXT_MAX = 4000;
/** Lines shown of a prompt. */
const PROMPT_LINES = 12;
const PROMPT_LINE_MAX = 2000;

type Block = "prompt" | "text" | "tool" | "note" | "ask";

/** Prints a conversation: blocks with an empty line between blocks of different kinds. */
export class Transcript {
  readonly #screen: Pick<Screen, "print" | "isAtStart">;
  readonly #paint: Paint;
  readonly #sanitize = sanitizer();
  #last: Block | null = null;
  /** Whether the cut-off of the current answer is shown already. */
  #isCutOff = false;
  #history: ChatEvent[] | null = [];
  /** Prompts typed before the history is known; they are shown below it. */
  readonly #queued: (() => void)[] = [];

  constructor(screen: Pick<Screen, "print" | "isAtStart">, paint: Paint) {
    this.#screen = screen;
    this.#paint = paint;
  }

  /** @param isOwn whether a prompt was typed here and is on the screen already */
  show(event: ChatEvent, isOwn: (promptId: string) => boolean, now: number): void {
    if (this.#history !== null) {
      if (event.type !== "caught up") {
        this.#history.push(event);
        return;
      }
      const history = this.#history;
      this.#history = null;
      for (const each of this.#recent(history)) this.show(each, isOwn, now);
      this.#endText();
      for (const show of this.#queued) show();
      return;
    }
    switch (event.type) {
      case "prompt":
        this.#prompt(event.text, isOwn(event.turn.prompt_id ?? ""));
        break;
      case "attached":
        this.note(`  attached: ${attachedText(event.file)}`);
        break;
      case "text":
        this.#text(event.text, event.begins);
        break;
      case "tool":
        if (event.state !== "running") this.#block("tool", toolLine(event, this.#paint));
        break;
      case "plan":
        this.#block("note", planText(event.plan));
        break;
      case "retry":
        this.#block("note", this.#paint.yellow(retryLine(event.retry, now)));
        break;
      case "asked":
        this.#ask(event.ask);
        break;
      case "over":
        if (!isOwn(event.turn.prompt_id ?? "")) this.#end(event.outcome, event.turn.error);
        break;
      case "ended":
        this.#end(event.outcome, event.error);
        break;
    }
  }

  #prompt(text: string, isOwn: boolean): void {
    if (text.startsWith(DAEMON_MARK)) {
      this.#cutOff(text.slice(DAEMON_MARK.length));
      return;
    }
    this.#isCutOff = false;
    if (!isOwn) this.prompt(text);
  }

  #end(outcome: Outcome, error: string | null): void {
    this.#endText();
    if (outcome === "cut_off") this.#cutOff(outcomeLine(outcome, error));
    else if (outcome !== "completed") this.#block("note", this.#paint.red(outcomeLine(outcome, error)));
  }

  /** Shows a prompt. */
  prompt(text: string): void {
    if (this.#history !== null) {
      this.#queued.push(() => this.prompt(text));
      return;
    }
    const all = lines(text).split("\n");
    const more = all.length - PROMPT_LINES;
    const shown = all.slice(0, PROMPT_LINES).map((line, index) => {
      const end = line.length > PROMPT_LINE_MAX ? "…" : "";
      return `${index === 0 ? ">" : " "} ${line.slice(0, PROMPT_LINE_MAX)}${end}`;
    });
    if (more > 0) shown.push(`  … ${count(more, "more line")}`);
    this.#endText();
    if (this.#last === "prompt") this.#screen.print("\n");
    this.#block("prompt", shown.map((line) => this.#paint.cyan(line)).join("\n"));
  }

  /** Shows a cut-off once: both svc and the daemon's message in the conversation report it. */
  #cutOff(text: string): void {
    if (!this.#isCutOff) this.#block("note", this.#paint.yellow(oneLine(text)));
    this.#isCutOff = true;
  }

  note(text: string): void {
    this.#block("note", this.#paint.dim(lines(text)));
  }

  error(text: string): void {
    this.#block("note", `${this.#paint.red("error:")} ${lines(text)}`);
  }

  #ask(ask: WaitingFor): void {
    if (ask.kind === "permission") {
      const what = ask.patterns.map((pattern) => `\n  ${oneLine(pattern)}`).join("");
      this.#block(
        "ask",
        `${this.#paint.yellow("?")} Allow the agent to use ${oneLine(ask.permission ?? "a tool")}?${what}`,
      );
      return;
    }
    for (const question of ask.questions) this.#question(question);
  }

  #question({ question, options }: WaitingFor["questions"][number]): void {
    const rows = options.map(({ label, description }, index) => {
      const more =
        description === "" || description === label ? "" : this.#paint.dim(`  ${oneLine(description)}`);
      return `\n  ${index + 1}. ${oneLine(label)}${more}`;
    });
    this.#block("ask", `${this.#paint.yellow("?")} ${lines(question)}${rows.join("")}`);
  }

  #text(chunk: string, begins: boolean): void {
    if (this.#last !== "text" || begins) {
      this.#endText();
      if (this.#last !== null) this.#screen.print("\n");
      this.#last = "text";
    }
    this.#screen.print(this.#sanitize.text(chunk));
  }

  #block(kind: Block, text: string): void {
    this.#endText();
    if (this.#last !== null && this.#last !== kind) this.#screen.print("\n");
    this.#last = kind;
    this.#screen.print(`${text}\n`);
  }

  #endText(): void {
    this.#screen.print(this.#sanitize.end());
    if (!this.#screen.isAtStart) this.#screen.print("\n");
  }

  /** The end of the history, after a note if older prompts are left out. */
  #recent(history: readonly ChatEvent[]): ChatEvent[] {
    const prompts = history.flatMap(({ type }, index) => (type === "prompt" ? [index] : []));
    const from = prompts.at(-HISTORY_PROMPTS) ?? 0;
    if (prompts.length > HISTORY_PROMPTS) this.note("Earlier messages are not shown.");
    return history.filter((event, index) => index >= from || event.type === "asked").map(shortened);
  }
}

function shortened(event: ChatEvent): ChatEvent {
  if (event.type !== "text" || event.text.length <= HISTORY_TEXT_MAX) return event;
  return {
    ...event,
    text: `${event.text.slice(0, HISTORY_TEXT_MAX)}\n… ${event.text.length - HISTORY_TEXT_MAX} more characters`,
  };
}
