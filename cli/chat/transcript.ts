import type { Ask, Question } from "../../src/conversation/events.ts";
import type { News } from "../../src/conversation/talk.ts";
import { DAEMON_MARK } from "../../src/conversation/words.ts";
import type { Paint } from "../output.ts";
import { count, lines, oneLine } from "../text.ts";
import { cleaner } from "./cleaner.ts";
import type { Screen } from "./screen.ts";
import { outcomeLine, retryLine, toolLine } from "./words.ts";

/** Prompts of the past with which a chat begins, and characters of one text of it that are shown. */
const PAST_PROMPTS = 5;
const PAST_MAX = 4000;
/** Lines of a prompt that are shown; whoever wrote it knows the rest. */
const PROMPT_LINES = 12;
const PROMPT_LINE_MAX = 2000;

type Block = "prompt" | "text" | "tool" | "note" | "ask";

/** What is said, as it stands on the screen: blocks with an empty line between different ones. */
export class Transcript {
  readonly #screen: Pick<Screen, "print" | "isAtStart">;
  readonly #paint: Paint;
  readonly #clean = cleaner();
  #last: Block | null = null;
  /** Whether it stands there already that the answer was cut off. */
  #isCutOff = false;
  #past: News[] | null = [];
  /** What comes before the past is known, and stands below it. */
  readonly #after: (() => void)[] = [];

  constructor(screen: Pick<Screen, "print" | "isAtStart">, paint: Paint) {
    this.#screen = screen;
    this.#paint = paint;
  }

  /** @param isOwn whether a prompt was typed here, and stands on the screen already */
  show(news: News, isOwn: (messageId: string) => boolean, now: number): void {
    if (this.#past !== null) {
      if (news.type !== "caught up") {
        this.#past.push(news);
        return;
      }
      const past = this.#past;
      this.#past = null;
      for (const each of this.#recent(past)) this.show(each, isOwn, now);
      this.#endText();
      for (const show of this.#after) show();
      return;
    }
    const { type } = news;
    if (type === "prompt" && news.text.startsWith(DAEMON_MARK))
      this.#cutOff(news.text.slice(DAEMON_MARK.length));
    else if (type === "prompt" && !isOwn(news.messageId)) this.prompt(news.text);
    if (type === "turn") this.#isCutOff = false;
    if (type === "text") this.#text(news.text, news.begins);
    if (type === "tool" && news.use.state !== "running") {
      this.#block("tool", toolLine(news.use, news.isSubagent, this.#paint));
    }
    if (type === "status" && news.status.type === "retry") {
      this.#block("note", this.#paint.yellow(retryLine(news.status, now)));
    }
    if (type === "cut") this.#cutOff(outcomeLine("cut_off", null));
    if (type === "gap") this.note("Some of the conversation was missed here.");
    if (type === "asked") this.#ask(news.ask);
    if (type === "ended") {
      this.#endText();
      const { outcome, error } = news;
      if (outcome === "cut_off") this.#cutOff(outcomeLine(outcome, error));
      else if (outcome !== "completed") this.#block("note", this.#paint.red(outcomeLine(outcome, error)));
    }
  }

  /** What somebody asked. */
  prompt(words: string): void {
    if (this.#past !== null) {
      this.#after.push(() => this.prompt(words));
      return;
    }
    const all = lines(words).split("\n");
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

  /** Whoever notices it first says it: we, or the daemon in the conversation. */
  #cutOff(words: string): void {
    if (!this.#isCutOff) this.#block("note", this.#paint.yellow(oneLine(words)));
    this.#isCutOff = true;
  }

  note(words: string): void {
    this.#block("note", this.#paint.dim(lines(words)));
  }

  error(words: string): void {
    this.#block("note", `${this.#paint.red("error:")} ${lines(words)}`);
  }

  #ask(ask: Ask): void {
    if (ask.kind === "permission") {
      const what = ask.patterns.map((pattern) => `\n  ${oneLine(pattern)}`).join("");
      this.#block("ask", `${this.#paint.yellow("?")} May the agent use ${oneLine(ask.permission)}?${what}`);
      return;
    }
    for (const question of ask.questions) this.#question(question);
  }

  #question({ question, options }: Question): void {
    const rows = options.map(({ label, description }, index) => {
      const more =
        description === "" || description === label ? "" : this.#paint.dim(`  ${oneLine(description)}`);
      return `\n  ${index + 1}. ${oneLine(label)}${more}`;
    });
    this.#block("ask", `${this.#paint.yellow("?")} ${lines(question)}${rows.join("")}`);
  }

  #text(piece: string, begins: boolean): void {
    if (this.#last !== "text" || begins) {
      this.#endText();
      if (this.#last !== null) this.#screen.print("\n");
      this.#last = "text";
    }
    this.#screen.print(this.#clean.text(piece));
  }

  #block(kind: Block, text: string): void {
    this.#endText();
    if (this.#last !== null && this.#last !== kind) this.#screen.print("\n");
    this.#last = kind;
    this.#screen.print(`${text}\n`);
  }

  #endText(): void {
    this.#screen.print(this.#clean.end());
    if (!this.#screen.isAtStart) this.#screen.print("\n");
  }

  /** The end of what was said before, with what is left out named. */
  #recent(past: readonly News[]): News[] {
    const prompts = past.flatMap(({ type }, index) => (type === "prompt" ? [index] : []));
    const from = prompts.at(-PAST_PROMPTS) ?? 0;
    if (prompts.length > PAST_PROMPTS) this.note("What was said before this is not shown.");
    return past.filter((news, index) => index >= from || news.type === "asked").map(shortened);
  }
}

function shortened(news: News): News {
  if (news.type !== "text" || news.text.length <= PAST_MAX) return news;
  return {
    ...news,
    text: `${news.text.slice(0, PAST_MAX)}\n… ${news.text.length - PAST_MAX} more characters`,
  };
}
